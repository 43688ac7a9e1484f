#pragma once

#include <string>
#include <string_view>

#include "etlctl/run_record.h"
#include "model/instant.h"
#include "serve/run_texts.h"

namespace etl::ctl {

// A run as the record page of the catalogue shows it, as text: the same sections in the same order with the
// same words, labels and values in aligned columns. Says at the top when the run was retracted or superseded.
// Upstream text is made harmless (Safe); the manifests are indented JSON. `accessed` is the date that the
// citation carries. Ends with a line break.
std::string RenderPage(const RunRecord& record, Instant accessed);

using serve::Banners;
using serve::HardwareText;
using serve::HarnessText;
using serve::PrimaryText;
using serve::ProfileText;
using serve::RankText;
using serve::RevisionText;
using serve::SourceMetricsText;
using serve::WorkloadText;

}  // namespace etl::ctl
