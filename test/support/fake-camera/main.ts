/**
 * Many generated cameras in a process of their own, so that what they cost isn't counted as the product's.
 * Options as one JSON argument; prints one JSON line with its port once it listens. A line on its standard
 * input asks for its counters, and it ends with that input or with SIGTERM.
 */
import { createInterface } from 'node:readline';
import { type GeneratorOptions, generateVideo } from '../frame-generator.js';
import { FakeCamera } from './fake-camera.js';
import { Pump, type PumpCounters, type PumpOptions } from './pump.js';

export type CameraProcessOptions = GeneratorOptions &
  PumpOptions & { readonly cameras: number; readonly port?: number };

/** What one line on standard input is answered with. */
export type CameraProcessReport = PumpCounters & {
  /** Of this process, since its start. */
  readonly cpuMs: number;
  readonly playing: number;
  readonly connectionsSeen: number;
  readonly sessionsTornDown: number;
};

const options = JSON.parse(process.argv[2] ?? '{}') as CameraProcessOptions;
const pump = new Pump(generateVideo(options), options);
const mounts = Object.fromEntries(
  Array.from({ length: options.cameras }, (_, i) => [`/cam${i}`, pump.feed()]),
);
const camera = await FakeCamera.start({
  mounts,
  ...(options.port === undefined ? {} : { port: options.port }),
});

const report = (): CameraProcessReport => {
  const { user, system } = process.cpuUsage();
  const { playing, connectionsSeen, sessionsTornDown } = camera;
  return { ...pump.counters, cpuMs: (user + system) / 1000, playing, connectionsSeen, sessionsTornDown };
};

const input = createInterface({ input: process.stdin });
input.on('line', () => console.log(JSON.stringify(report())));
input.on('close', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
console.log(JSON.stringify({ port: camera.port }));
