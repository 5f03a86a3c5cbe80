import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { accessUnitHash, hashOf } from '../support/access-units.js';
import { readAdtsStream, readVideoStream, type VideoStream } from '../support/elementary-stream.js';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';
import { fixtures } from '../support/fixtures.js';
import { gstUnits } from '../support/gst-player.js';
import { recordsOf, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { run, type Source, startRtspOut } from './rtsp-out.js';

const FRAMES = 75;

const hashesOf = ({ codec, frames }: VideoStream): string[] =>
  frames.map(({ bytes }) => accessUnitHash(codec, bytes));

/** That what was received is a stretch of the looped source, without a gap. */
const assertStretch = (seen: readonly string[], source: readonly string[], least: number): void => {
  assert.ok(seen.length >= least, `only ${seen.length} frames came`);
  const isAt = (offset: number): boolean =>
    seen.every((hash, index) => hash === source[(offset + index) % source.length]);
  assert.ok(
    source.some((_, offset) => isAt(offset)),
    `${seen.length} frames are no stretch of the source`,
  );
};

/** When ffprobe shows the pictures of a file, in seconds; the first is left out, whose time ffmpeg guesses from RTSP. */
const timesOf = async (path: string): Promise<number[]> => {
  const { out } = await run('ffprobe', [
    ...['-v', 'error', '-select_streams', 'v', '-show_entries', 'packet=pts_time', '-of', 'csv=p=0', path],
  ]);
  return out.trim().split('\n').slice(1).map(Number);
};

const sources: Readonly<Record<string, Source>> = {
  h264: { video: fixtures.h264High() },
  h265: { video: fixtures.h265Main() },
  bframes: { video: fixtures.h264BFrames() },
  aac: { video: fixtures.h264High(), audio: fixtures.aac() },
  pcma: { video: fixtures.h264Baseline(), audio: fixtures.pcma() },
};

const ffmpeg = async (args: readonly string[]): Promise<void> => {
  const { code, err } = await run('ffmpeg', ['-nostdin', '-y', '-v', 'error', ...args]);
  assert.equal(code, 0, err);
};

describe('cameras over RTSP', { concurrency: 2 }, () => {
  for (const transport of ['tcp', 'udp'] as const) {
    test(`ffmpeg over ${transport} gets every access unit and all sound, at their times`, async (t) => {
      const { url, service } = await startRtspOut(t, sources);
      const folder = tempFolder(t);
      const pull = async (id: string): Promise<void> => {
        const { video, audio } = sources[id]!;
        const { codec, frameRateHz } = video;
        // A raw stream has no times, a Matroska file wants decode times, which RTP doesn't have where there are B-frames.
        const dump = join(folder, `${id}.${codec === 'h264' ? '264' : '265'}`);
        const path = join(folder, `${id}.mkv`);
        const both = id === 'bframes' ? [] : ['-map', '0', '-c', 'copy', '-t', '5', path];
        const raw = ['-map', '0:v', '-c', 'copy', '-t', '5', dump];
        await ffmpeg(['-rtsp_transport', transport, '-i', `${url}/${id}`, ...both, ...raw]);
        assertStretch(hashesOf(readVideoStream(dump, { codec, frameRateHz })), hashesOf(video), FRAMES - 5);
        if (id === 'bframes') return;
        const times = await timesOf(path);
        for (const [index, pts] of times.slice(1).entries()) {
          const step = pts - times[index]!;
          // Matroska counts in milliseconds; sound beside it makes ffmpeg follow the wall clock of the reports.
          const slack = audio === undefined ? 0.002 : 0.013;
          assert.ok(Math.abs(step - 1 / frameRateHz) < slack, `${id}: a step of ${step} s at ${index}`);
        }
      };
      await Promise.all(Object.keys(sources).map(pull));
      const adts = join(folder, 'aac.adts');
      await ffmpeg(['-i', join(folder, 'aac.mkv'), '-c', 'copy', '-vn', '-f', 'adts', adts]);
      const hashes = (frames: readonly { bytes: Buffer }[]): string[] =>
        frames.map(({ bytes }) => hashOf(bytes));
      assertStretch(hashes(readAdtsStream(adts).frames), hashes(fixtures.aac().frames), 200);
      const alaw = join(folder, 'pcma.alaw');
      await ffmpeg(['-i', join(folder, 'pcma.mkv'), '-c', 'copy', '-vn', '-f', 'alaw', alaw]);
      const loop = Buffer.concat(fixtures.pcma().frames.map(({ bytes }) => bytes));
      const sound = readFileSync(alaw);
      const at = Buffer.concat([loop, loop, loop, loop]).indexOf(sound.subarray(0, 5 * 8_000 - 3_000));
      assert.ok(sound.length > 37_000 && at >= 0, 'the sound is the source, sample by sample');
      await until('all have left', async () => {
        const { text } = await service.call('GET', '/metrics');
        return /svc_viewers\{camera_id="h264",kind="rtsp"\} 0/.test(text);
      });
      assert.equal(await service.stop(), 0);
    });

    test(`GStreamer over ${transport} gets every access unit, at its time`, async (t) => {
      const { url } = await startRtspOut(t, { h264: sources['h264']!, h265: sources['h265']! });
      for (const [id, { video }] of [
        ['h264', sources['h264']!],
        ['h265', sources['h265']!],
      ] as const) {
        const units = await gstUnits(`${url}/${id}`, transport, video.codec, FRAMES);
        const path = join(tempFolder(t), id);
        writeFileSync(path, Buffer.concat(units.map(({ bytes }) => bytes)));
        const stream = readVideoStream(path, { codec: video.codec, frameRateHz: video.frameRateHz });
        assertStretch(hashesOf(stream), hashesOf(video), FRAMES - 1);
        for (const [index, { ptsNs }] of units.slice(1).entries()) {
          const stepMs = (ptsNs - units[index]!.ptsNs) / 1e6;
          assert.ok(Math.abs(stepMs - 1000 / video.frameRateHz) < 0.1, `${id}: a step of ${stepMs} ms`);
        }
      }
    });
  }

  test('a camera that asks for a token: a token, a name and a password, and who loses the right', async (t) => {
    const { url, service, call, viewersOf } = await startRtspOut(t, { door: sources['h264']! });
    await call('PUT', '/api/cameras/door', { token_auth: true });
    await call('POST', '/api/users', { username: 'john', password: 'p@ss:1234', role: 'viewer' });
    const probe = async (address: string): Promise<number | null> =>
      (await run('ffprobe', ['-v', 'error', '-rtsp_transport', 'tcp', address])).code;
    assert.notEqual(await probe(`${url}/door`), 0);
    const { token } = (await call('GET', '/api/cameras/door/stream-token')).body;
    assert.equal(await probe(`${url}/door?token=${token}`), 0);
    const as = (login: string): string => `${url.replace('://', `://${login}@`)}/door`;
    assert.notEqual(await probe(as('john:wrong')), 0);
    assert.equal(await probe(as('john:p%40ss%3A1234')), 0);
    const failure = recordsOf(service.out()).find(({ action }) => action === 'login_failed');
    assert.deepEqual(
      [failure?.['user'], failure?.['reason'], failure?.['audit']],
      ['john', 'bad_credentials', true],
    );
    const watching = run('ffmpeg', [
      ...['-nostdin', '-v', 'error', '-rtsp_transport', 'tcp', '-i', as('john:p%40ss%3A1234')],
      ...['-c', 'copy', '-f', 'null', '-'],
    ]);
    await until('john watches', async () => (await viewersOf('door')) === 1);
    await call('PUT', '/api/users/john', { password: 'another p@ss' });
    assert.equal((await watching).code, 0, 'ffmpeg sees an end');
    assert.equal(await viewersOf('door'), 0);
    assert.notEqual(await probe(as('john:p%40ss%3A1234')), 0);
    assert.doesNotMatch(service.out() + service.err(), /p@ss|p%40ss|am9objpw/);
  });

  test('a player goes on when the camera was away', async (t) => {
    const { url, camera, viewersOf } = await startRtspOut(t, { door: sources['h264']! });
    const path = join(tempFolder(t), 'door.mkv');
    const input = ['-rtsp_transport', 'tcp', '-i', `${url}/door`];
    const watching = run('ffmpeg', [
      ...['-nostdin', '-v', 'error', ...input, '-c', 'copy', '-frames:v', '120', path],
    ]);
    await until('it plays', async () => (await viewersOf('door')) === 1);
    camera.resetConnections();
    const { code, err } = await watching;
    assert.equal(code, 0, err);
    const times = await timesOf(path);
    assert.equal(times.length, 119);
    for (const [index, pts] of times.slice(1).entries()) assert.ok(pts > times[index]!, 'time goes back');
  });

  test('over TLS with the certificate of the service', async (t) => {
    const folder = tempFolder(t);
    const { cert, key } = selfSignedCertificate();
    const [certPath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    writeFileSync(certPath, cert);
    writeFileSync(keyPath, key);
    const before = await startRtspOut(t, { door: sources['h264']! }, { DATA_DIR: folder });
    await before.service.stop();
    const tls = { TLS_CERT: certPath, TLS_KEY: keyPath, RTSPS_PORT: '0' };
    const service = await startService({ DATA_DIR: folder, ...tls });
    t.after(() => service.process.kill('SIGKILL'));
    const listening = recordsOf(service.out()).find(({ msg }) => msg === 'listening');
    assert.equal(listening?.['rtsp_url'], undefined);
    const units = await run('ffprobe', [
      ...['-v', 'error', '-read_intervals', '%+1', '-show_entries', 'packet=flags', '-of', 'csv=p=0'],
      `${String(listening?.['rtsps_url'])}/door`,
    ]);
    assert.equal(units.code, 0, units.err);
    assert.match(units.out, /K/);
  });
});
