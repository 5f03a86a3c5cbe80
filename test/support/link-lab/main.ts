/**
 * Chromium behind a thin or lossy link, made of a network namespace, nftables and tc: needs root, iproute2, nftables
 * and ffmpeg. One JSON argument, one JSON line of what was seen:
 *
 *     node dist/test/support/link-lab/main.js '{"rateMbit":4.5,"delayMs":40}'
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { readVideoStream } from '../elementary-stream.js';
import { FakeCamera } from '../fake-camera/fake-camera.js';
import { type RunningService, startService } from '../service.js';
import { until } from '../until.js';
import { type Link, Network, SERVICE_ADDRESS } from './network.js';
import { PAGE } from './page.js';
import { Relay } from './relay.js';

const defaults = {
  rateMbit: 0,
  queueMs: 200,
  lossPercent: 0,
  delayMs: 40,
  seconds: 30,
  gopFrames: 50,
  kbps: 4_000,
  /** The rate from half time on; -1: as before. */
  laterRateMbit: -1,
  /** Another build of the service, to compare. */
  main: '',
};
type Options = typeof defaults;

const FRAME_RATE_HZ = 25;
/** A picture that stands longer than this is frozen. */
const FROZEN_MS = 200;

type Facts = {
  readonly shown: readonly (readonly [nowMs: number, rtpTimestamp: number, presented: number])[];
  readonly inbound: Record<string, number>;
  readonly state: string;
  readonly nowMs: number;
};

const makeStream = (folder: string, { kbps, gopFrames }: Options): string => {
  const path = join(folder, 'camera.264');
  const source = `testsrc2=size=640x360:rate=${FRAME_RATE_HZ},noise=alls=24:allf=t`;
  const rate = ['-b:v', `${kbps}k`, '-minrate', `${kbps}k`, '-maxrate', `${kbps}k`, '-bufsize', `${kbps}k`];
  const gop = ['-g', `${gopFrames}`, '-keyint_min', `${gopFrames}`, '-sc_threshold', '0', '-bf', '0'];
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-profile:v', 'baseline', ...rate, ...gop];
  const input = ['-f', 'lavfi', '-i', source, '-t', '20'];
  execFileSync('ffmpeg', ['-v', 'error', ...input, ...codec, '-f', 'h264', path]);
  return path;
};

const startPage = async (prefix: string, folder: string) => {
  const wrapper = join(folder, 'chromium');
  writeFileSync(wrapper, `#!/bin/sh\nexec ${prefix} /usr/bin/chromium "$@"\n`);
  chmodSync(wrapper, 0o755);
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(PAGE));
  server.listen(0, SERVICE_ADDRESS);
  const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'];
  const silence = ['--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: wrapper,
    headless: true,
    chromiumSandbox: false,
    args: [...flags, ...silence, '--autoplay-policy=no-user-gesture-required'].concat(
      '--disable-features=WebRtcHideLocalIpsWithMdns',
    ),
  });
  const page = await context.newPage();
  const { port } = server.address() as { port: number };
  await page.goto(`http://${SERVICE_ADDRESS}:${port}/`);
  const close = async (): Promise<void> => {
    await context.close();
    server.close();
  };
  return { page, close };
};

const addCamera = async (service: RunningService, url: string): Promise<void> => {
  const token = await service.login('admin', service.adminPassword);
  await service.call('POST', '/api/cameras', { token, body: { id: 'door', url } });
  const state = async () => (await service.call('GET', '/api/cameras', { token })).body[0].state;
  await until('the camera streams', async () => (await state()) === 'streaming', { deadlineMs: 20_000 });
};

const watch = async (page: Page, service: RunningService, relay: Relay): Promise<void> => {
  const offer = await page.evaluate<string>('start()');
  const response = await fetch(`${service.url}/stream/webrtc/whep/door`, {
    method: 'POST',
    headers: { 'content-type': 'application/sdp' },
    body: offer,
  });
  const answer = relay.standIn(await response.text());
  await page.evaluate(`take(${JSON.stringify(answer)})`);
};

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? -1;

const round = (value: number, digits = 1): number => Number(value.toFixed(digits));

const summarize = ({ shown, inbound, nowMs, state }: Facts, relay: Relay, options: Options) => {
  const times = [...shown.map(([timeMs]) => timeMs), nowMs];
  const gaps = times.slice(1).map((timeMs, i) => timeMs - times[i]!);
  const frozenMs = gaps.filter((gapMs) => gapMs > FROZEN_MS).reduce((sum, gapMs) => sum + gapMs, 0);
  // How late against the earliest one, in time of the stream.
  const delays = shown.map(([timeMs, timestamp]) => timeMs - timestamp / 90);
  const leastMs = Math.min(...delays);
  const lateMs = delays.map((delayMs) => delayMs - leastMs);
  const { bytes, repeatBytes, oldPictureBytes } = relay.carried;
  const seconds = nowMs / 1000;
  return {
    shown: (shown.at(-1)?.[2] ?? 0) - (shown[0]?.[2] ?? 0) + Math.min(1, shown.length),
    ofPictures: Math.round((seconds - (times[0] ?? 0) / 1000) * FRAME_RATE_HZ),
    firstMs: Math.round(times[0] ?? -1),
    frozenSeconds: round(frozenMs / 1000),
    lateP50Ms: Math.round(quantile(lateMs, 0.5)),
    lateP95Ms: Math.round(quantile(lateMs, 0.95)),
    lateEndMs: Math.round(lateMs.at(-1) ?? -1),
    sentMbit: round((bytes * 8) / seconds / 1e6, 2),
    repeatMbit: round((repeatBytes * 8) / seconds / 1e6, 2),
    oldPictureMbit: round((oldPictureBytes * 8) / seconds / 1e6, 2),
    besideMB: round((repeatBytes + oldPictureBytes) / 1e6, 2),
    lost: inbound['packetsLost'],
    nacks: inbound['nackCount'],
    plis: inbound['pliCount'],
    decoded: inbound['framesDecoded'],
    state,
    perSecond: Array.from(
      { length: options.seconds },
      (_, second) =>
        times.filter((timeMs) => timeMs >= second * 1000 && timeMs < second * 1000 + 1000).length,
    ).join(' '),
  };
};

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const options: Options = { ...defaults, ...(JSON.parse(process.argv[2] ?? '{}') as Partial<Options>) };
const folder = mkdtempSync(join(tmpdir(), 'framering-lab-'));
const kept = join(tmpdir(), `framering-lab-${options.kbps}-${options.gopFrames}.264`);
try {
  const link: Link = options;
  using network = new Network(link);
  if (!existsSync(kept)) execFileSync('mv', [makeStream(folder, options), kept]);
  const video = readVideoStream(kept, { codec: 'h264', frameRateHz: FRAME_RATE_HZ });
  const camera = await FakeCamera.start({ mounts: { '/main': { video } } });
  const env = { DATA_DIR: folder, HOST: SERVICE_ADDRESS, WEBRTC_UDP_PORTS: '51500-51509' };
  const service = await startService(env, ...(options.main === '' ? [] : [options.main]));
  const relay = await Relay.open(SERVICE_ADDRESS, options.delayMs);
  await addCamera(service, camera.url('/main'));
  const { page, close } = await startPage(network.prefix, folder);
  // A group of pictures has been there, and viewers come at any time of the next one.
  await sleep((options.gopFrames / FRAME_RATE_HZ) * 1500);
  await watch(page, service, relay);
  await sleep(options.seconds * 500);
  if (options.laterRateMbit >= 0) network.limit(options.laterRateMbit, options.queueMs);
  await sleep(options.seconds * 500);
  const facts = await page.evaluate<Facts>('facts()');
  console.log(JSON.stringify(summarize(facts, relay, options)));
  const metrics = await (await fetch(`${service.metricsUrl}`)).text();
  console.log(/^svc_buffer_drops_total.*$/m.exec(metrics)?.[0] ?? '');
  if (process.env['LAB_LOG']) console.log(service.out());
  await close();
  relay.close();
  service.process.kill('SIGKILL');
  await camera[Symbol.asyncDispose]();
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
