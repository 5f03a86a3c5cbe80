import { signal } from '@preact/signals';
import { monotonicMs } from '../player/monotonic.js';
import { onServiceTime, serviceClock } from './service-clock.js';

const MINUTE_MS = 60_000;

/**
 * By how many minutes this machine's clock is ahead of the service's, where that is over one for sure; 0: it isn't. No page
 * goes by it, yet what else its user looks at may.
 */
export const wrongByMinutes = signal(0);

export const startWrongClock = (): void =>
  onServiceTime(() => {
    const known = serviceClock();
    if (known === null) return;
    const byMs = Date.now() - monotonicMs() - known.offsetMs;
    const isWrong = Math.abs(byMs) > MINUTE_MS + known.errorMs;
    wrongByMinutes.value = isWrong ? Math.round(byMs / MINUTE_MS) : 0;
  });
