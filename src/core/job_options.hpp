#pragma once

#include <rowlock/duration.hpp>
#include <rowlock/job.hpp>

#include "core/period.hpp"
#include "core/wording.hpp"

namespace rowlock::inline v1::core {

/// Checks the options, and returns the periods. Throws error{errc::invalid_option} or errc::unsupported with a sentence
/// that names the option, the value and the rule.
schedule periods_of(const job_options& options, const wording& in = {});

/// job_options::early_by, or its default.
duration early_by(const job_options& options);

}  // namespace rowlock::inline v1::core
