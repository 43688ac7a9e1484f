#pragma once

#include "serve/run_record.h"

namespace etl::ctl {

using serve::AuthorOf;
using serve::AuthorOfEntry;
using serve::LoadManifest;
using serve::LoadRun;
using serve::Loaded;
using serve::RunRecord;
using serve::StateText;

}  // namespace etl::ctl
