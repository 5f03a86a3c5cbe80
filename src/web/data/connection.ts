import { signal } from '@preact/signals';
import { tellHappening } from './happenings.js';
import { isOffline } from './problem.js';
import { onReach } from './request.js';
import { serviceNowMs } from './service-clock.js';
import { refreshMe, session } from './session.js';

/** The service doesn't answer since then; the next attempt comes in so many seconds. */
export type Outage = { readonly sinceMs: number; readonly leftSec: number };

/** Null: it answers, as far as anybody asked. What was shown stays on the screen meanwhile. */
export const outage = signal<Outage | null>(null);

const FIRST_WAIT_SEC = 1;
const MAX_WAIT_SEC = 8;

let waitSec = FIRST_WAIT_SEC;
let timer: ReturnType<typeof setTimeout> | undefined;

const tick = (): void => {
  clearTimeout(timer);
  const now = outage.peek();
  if (now === null) return;
  if (now.leftSec <= 0) return void tryNow();
  timer = setTimeout(() => {
    const later = outage.peek();
    if (later !== null) outage.value = { ...later, leftSec: later.leftSec - 1 };
    tick();
  }, 1_000);
};

/** Asks at once; what may have changed meanwhile is read anew as soon as there is an answer. */
export const tryNow = async (): Promise<void> => {
  clearTimeout(timer);
  try {
    await refreshMe();
    waitSec = FIRST_WAIT_SEC;
    outage.value = null;
    tellHappening({ topic: 'reset' });
  } catch (fault) {
    const now = outage.peek();
    if (!isOffline(fault) || now === null) {
      outage.value = null;
      return;
    }
    waitSec = Math.min(waitSec * 2, MAX_WAIT_SEC);
    outage.value = { ...now, leftSec: waitSec };
    tick();
  }
};

export const startConnection = (): void => {
  onReach((isReached) => {
    if (isReached || outage.peek() !== null || session.peek().state !== 'in') return;
    outage.value = { sinceMs: serviceNowMs(), leftSec: waitSec };
    tick();
  });
  addEventListener('online', () => {
    if (outage.peek() !== null) void tryNow();
  });
};
