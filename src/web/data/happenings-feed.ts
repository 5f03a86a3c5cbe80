import { effect, signal } from '@preact/signals';
import { followStream } from './event-stream.js';
import { type Happening, tellHappening } from './happenings.js';
import { call, me } from './session.js';

/** Whether a wall's socket brings what happens already: six streams of one kind block a host. */
export const isHeardByWall = signal(false);

const tell = (type: string, data: string): void => {
  if (type === 'reset') tellHappening({ topic: 'reset' });
  else if (data !== '') tellHappening(JSON.parse(data) as Happening);
};

/** Listens as long as somebody is signed in and no wall does. */
export const startHappenings = (): void => {
  let running: AbortController | null = null;
  effect(() => {
    const isWanted = me.value?.permissions.includes('events.read') === true && !isHeardByWall.value;
    if (isWanted === (running !== null)) return;
    running?.abort();
    running = isWanted ? new AbortController() : null;
    if (running === null) return;
    const { signal: ended } = running;
    void followStream(() => call('GET', '/api/events/stream', { signal: ended }), tell, ended);
  });
};
