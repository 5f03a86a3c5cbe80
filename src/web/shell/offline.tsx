import { outage, tryNow } from '../data/connection.js';
import { showClock, zoneName } from '../data/time.js';
import { Button } from '../parts/button.js';
import { Banner } from '../parts/states.js';
import { shellText } from '../text/shell.js';

/** The service doesn't answer: since when what is shown is old, and when it is asked again. */
export const Offline = () => {
  if (outage.value === null) return null;
  const { sinceMs, leftSec } = outage.value;
  return (
    <div role="status">
      <Banner
        tone="danger"
        icon="offline"
        action={<Button onClick={() => void tryNow()}>{shellText('retryNow')}</Button>}
      >
        {shellText('outage', { time: showClock(sinceMs), zone: zoneName.value })}{' '}
        {/* Counted for the eye alone: nobody wants to hear every second. */}
        <span aria-hidden>{shellText('retryIn', { seconds: Math.max(0, leftSec) })}</span>
      </Banner>
    </div>
  );
};
