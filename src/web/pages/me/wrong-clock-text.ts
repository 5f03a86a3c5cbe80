import { showDuration } from '../../data/time.js';
import { meText } from '../../text/me.js';

/** By how many minutes this device is ahead. */
export const wrongClockText = (minutes: number): string =>
  meText(minutes > 0 ? 'clockAhead' : 'clockBehind', { by: showDuration(Math.abs(minutes) * 60_000) });
