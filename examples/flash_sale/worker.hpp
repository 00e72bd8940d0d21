#pragma once

namespace flash_sale {

/// One process full of buyers, or with one late buyer: reads its task, tells when it is ready, buys when told to, and
/// tells what happened. Returns the exit status.
int work();

}  // namespace flash_sale
