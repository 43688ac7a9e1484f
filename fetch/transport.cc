#include "fetch/transport.h"

namespace etl {

void Transport::Expect(std::string_view /*key*/, const Validators& /*held*/) {}

}  // namespace etl
