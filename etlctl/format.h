#pragma once

#include "serve/format.h"

namespace etl::ctl {

using serve::FormatBytes;
using serve::FormatCount;
using serve::FormatDay;
using serve::FormatDuration;
using serve::FormatGap;
using serve::FormatLatency;
using serve::FormatNumber;
using serve::FormatRatio;
using serve::FormatScore;
using serve::FormatValue;
using serve::ShortDigest;
using serve::ShortId;
using serve::SourceTitle;
using serve::TitleOf;
using serve::UnitOf;

}  // namespace etl::ctl
