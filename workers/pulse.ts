import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../src/base/clock.js';
import { createLogger } from '../src/base/log.js';
import type { FromPulse, PulseSetup, ToPulse } from '../src/cluster/boxes/messages.js';
import { Pulse } from '../src/cluster/boxes/pulse.js';

/** The thread around a Pulse: messages in, messages out, an orderly end. */
if (parentPort === null) throw new Error('workers/pulse.js runs as a worker thread only');
const port = parentPort;
const send = (message: FromPulse): void => port.postMessage(message);
const log = createLogger((level, message, fields) => send({ type: 'log', level, message, fields }));
const pulse = new Pulse(workerData as PulseSetup, { clock: systemClock, log, send });

port.on('message', (message: ToPulse) => {
  if (message.type !== 'stop') pulse.handle(message);
  else void pulse.stop().finally(() => port.close());
});
