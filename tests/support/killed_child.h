#pragma once

#include <cstdint>
#include <functional>

namespace etl::test {

// Runs `work` in a child process, which calls `tick` as it goes on, and kills it by SIGKILL `delay_us`
// microseconds after so many ticks. Returns whether that came before its end. The child has
// none of this process' threads, those of libraries among them: `work` must not wait for any.
bool KilledWhile(const std::function<void(const std::function<void()>& tick)>& work, std::uint64_t ticks,
                 unsigned delay_us);

// How often a crash test kills: ETL_CRASH_ROUNDS, else 20.
int CrashRounds();

}  // namespace etl::test
