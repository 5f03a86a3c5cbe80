import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type MonotonicMs, systemClock } from '../../src/base/clock.js';
import { Metrics } from '../../src/ops/metrics.js';
import { sampleCamera, sampleCounters, sampleSource } from './sample-source.js';

/** The value of one line of the exposition, or null if there is none. */
const seriesValue = (exposition: string, series: string): number | null => {
  const found = exposition.split('\n').find((text) => text.startsWith(`${series} `));
  return found === undefined ? null : Number(found.slice(series.length + 1));
};

const metricsOf = (source: ReturnType<typeof sampleSource>): Metrics =>
  new Metrics('1.2.3', { clock: systemClock, source });

test('the four metrics of the interface are there, with their labels', async () => {
  const text = await metricsOf(sampleSource()).exposition();
  assert.equal(seriesValue(text, 'svc_stream_online{camera_id="front-door"}'), 1);
  assert.equal(seriesValue(text, 'svc_stream_online{camera_id="yard.2"}'), 0);
  assert.equal(seriesValue(text, 'svc_buffer_drops_total{camera_id="front-door"}'), 7);
  assert.equal(seriesValue(text, 'svc_storage_free_bytes'), 40e9);
  assert.equal(seriesValue(text, 'svc_storage_total_bytes'), 100e9);
  assert.equal(seriesValue(text, 'svc_broken_recordings'), 2);
  assert.equal(seriesValue(text, 'svc_broken_recordings_bytes'), 5e6);
  assert.equal(seriesValue(text, 'svc_cluster_box_up{box="box-2"}'), 1);
  assert.equal(seriesValue(text, 'svc_cluster_cameras{owner="this"}'), 3);
  assert.equal(seriesValue(text, 'svc_cluster_clock_ahead_seconds{box="box-2"}'), -1.5);
  assert.equal(seriesValue(text, 'svc_relay_pulls'), 2);
  assert.equal(seriesValue(text, 'svc_relay_bytes_total'), 7_000);
  assert.equal(seriesValue(text, 'svc_relay_dropped_frames_total'), 5);
  assert.equal(seriesValue(text, 'svc_relay_lag_seconds'), 0.25);
});

test('what operators need besides is there', async () => {
  const metrics = metricsOf(sampleSource());
  metrics.requestDone('/api/cameras/:id', 'GET', 200, 0.003);
  metrics.requestDone('/api/cameras/:id', 'BREW', 418, 0.003);
  metrics.loginFailed('credentials');
  const text = await metrics.exposition();
  const expected: Record<string, number> = {
    svc_pictures_decoded_total: 21,
    'svc_picture_failures_total{reason="too_slow"}': 2,
    svc_pictures_waiting: 4,
    svc_detection_waiting: 3,
    svc_detections_kept_total: 40,
    svc_detections_lost_total: 8,
    svc_detection_dropped_total: 4,
    'svc_detection_seconds_total{step="infer"}': 2.5,
    'svc_detections_total{label="person"}': 7,
    'svc_detection_age_seconds_bucket{le="1",step="taken"}': 45,
    'svc_detection_age_seconds_bucket{le="+Inf",step="known"}': 50,
    'svc_detection_age_seconds_count{step="taken"}': 50,
    'svc_detection_age_seconds_sum{step="known"}': 45,
    'svc_archive_write_seconds_bucket{le="1"}': 9,
    svc_archive_write_seconds_count: 10,
    svc_archive_write_seconds_sum: 3.5,
    'svc_onvif_event_cameras{state="heard"}': 3,
    'svc_onvif_event_cameras{state="missed"}': 1,
    'svc_event_recordings_total{outcome="cut"}': 12,
    'svc_event_recordings_total{outcome="deleted"}': 13,
    'svc_event_recordings_total{outcome="unreadable"}': 1,
    'svc_stream_frames_total{camera_id="front-door",media="audio"}': 3_000,
    'svc_stream_packets_lost_total{camera_id="front-door"}': 3,
    'svc_stream_packets_duplicate_total{camera_id="front-door"}': 5,
    'svc_stream_packets_foreign_total{camera_id="front-door"}': 6,
    'svc_stream_undecodable_frames_total{camera_id="front-door"}': 11,
    'svc_stream_garbage_bytes_total{camera_id="front-door"}': 12,
    'svc_stream_unsent_packets_total{camera_id="front-door"}': 13,
    'svc_stream_wall_steps_total{camera_id="front-door"}': 14,
    'svc_stream_bytes_per_second{camera_id="front-door"}': 500_000,
    'svc_stream_state{camera_id="yard.2",state="reconnecting"}': 1,
    'svc_viewers{camera_id="front-door",kind="websocket"}': 2,
    'svc_viewers{camera_id="front-door",kind="wall"}': 3,
    'svc_recording{camera_id="front-door"}': 1,
    'svc_component_up{component="router"}': 0,
    'svc_login_failures_total{reason="credentials"}': 1,
    'svc_login_failures_total{reason="limited"}': 0,
    'svc_http_request_duration_seconds_count{route="/api/cameras/:id",method="GET",status="2xx"}': 1,
    'svc_http_request_duration_seconds_count{route="/api/cameras/:id",method="other",status="4xx"}': 1,
    'svc_thread_loop_lag_seconds_count{thread="main"}': 1,
    'svc_thread_loop_lag_seconds_bucket{le="+Inf",thread="main"}': 1,
    'svc_camera_threads_lost_total{cause="died"}': 2,
    'svc_camera_threads_lost_total{cause="hung"}': 1,
    svc_ring_budget_bytes: 2e9,
    svc_ring_memory_bytes: 6e6,
    svc_ring_ceiling_bytes: 64e6,
    'svc_ring_cut_gops_total{camera_id="front-door"}': 4,
    svc_threads: 2,
    [`svc_build_info{version="1.2.3",node="${process.versions.node}"}`]: 1,
  };
  for (const [series, value] of Object.entries(expected))
    assert.equal(seriesValue(text, series), value, series);
  const age = seriesValue(text, 'svc_stream_last_frame_age_seconds{camera_id="front-door"}');
  assert.ok(age !== null && age >= 0.04 && age < 5, `age ${age}`);
  assert.ok((seriesValue(text, 'process_open_fds') ?? 0) > 2);
  const startedAgo = Date.now() / 1000 - (seriesValue(text, 'process_start_time_seconds') ?? 0);
  assert.ok(Math.abs(startedAgo - process.uptime()) < 2, `started ${startedAgo} s ago`);
});

test('a camera that is disabled or on standby has no online series, so that no alert asks for it', async () => {
  const source = sampleSource();
  source.list = [
    sampleCamera('off', { state: 'disabled', counters: null }),
    sampleCamera('sim', { state: 'standby', counters: null }),
  ];
  const text = await metricsOf(source).exposition();
  assert.equal(seriesValue(text, 'svc_stream_online{camera_id="off"}'), null);
  assert.equal(seriesValue(text, 'svc_stream_online{camera_id="sim"}'), null);
  assert.equal(seriesValue(text, 'svc_stream_state{camera_id="sim",state="standby"}'), 1);
  assert.equal(seriesValue(text, 'svc_stream_last_frame_age_seconds{camera_id="off"}'), null);
  assert.equal(seriesValue(text, 'svc_stream_state{camera_id="off",state="disabled"}'), 1);
});

test('a removed camera vanishes at the next scrape, and starts anew when it comes back', async () => {
  const source = sampleSource();
  const metrics = metricsOf(source);
  await metrics.exposition();
  source.list = [sampleCamera('front-door')];
  assert.doesNotMatch(await metrics.exposition(), /yard\.2/);
  source.list = [sampleCamera('yard.2', { counters: sampleCounters({ packets: 5 }) })];
  const text = await metrics.exposition();
  assert.equal(seriesValue(text, 'svc_stream_packets_total{camera_id="yard.2"}'), 5);
  assert.doesNotMatch(text, /front-door/);
});

test('counters never go back: not over a replaced ring, nor while there is none', async () => {
  const source = sampleSource();
  const metrics = metricsOf(source);
  const scrape = async (changes: Parameters<typeof sampleCamera>[1]): Promise<(number | null)[]> => {
    source.list = [sampleCamera('a', changes)];
    const text = await metrics.exposition();
    return ['svc_stream_packets_total', 'svc_buffer_drops_total'].map((name) =>
      seriesValue(text, `${name}{camera_id="a"}`),
    );
  };
  assert.deepEqual(await scrape({ counters: sampleCounters({ packets: 100 }), bufferDrops: 4 }), [100, 4]);
  assert.deepEqual(await scrape({ counters: sampleCounters({ packets: 30 }), bufferDrops: 1 }), [130, 5]);
  assert.deepEqual(await scrape({ counters: null, bufferDrops: 1 }), [130, 5]);
  assert.deepEqual(await scrape({ counters: sampleCounters({ packets: 31 }), bufferDrops: 1 }), [131, 5]);
});

test('no reading of storage leaves its two metrics out and all others in', async () => {
  const source = { ...sampleSource(), storage: async () => null };
  const text = await metricsOf(source).exposition();
  assert.equal(seriesValue(text, 'svc_storage_free_bytes'), null);
  assert.equal(seriesValue(text, 'svc_storage_total_bytes'), null);
  assert.equal(seriesValue(text, 'svc_threads'), 2);
});

test('scrapes at the same moment see the same whole set', async () => {
  const metrics = metricsOf(sampleSource());
  const texts = await Promise.all([metrics.exposition(), metrics.exposition(), metrics.exposition()]);
  for (const text of texts) {
    assert.equal(seriesValue(text, 'svc_stream_frames_total{camera_id="yard.2",media="video"}'), 1_500);
    assert.equal(text.split('\n').length, texts[0]!.split('\n').length);
  }
});

test('a scrape of many cameras leaves turns of the event loop to others, and makes one page of all who ask meanwhile', async () => {
  const cameras = Array.from({ length: 300 }, (_, index) => sampleCamera(`camera-${index}`));
  // Each look at the clock is a tenth of a millisecond later: what is done costs the same on every machine.
  let nowMs = 0;
  const monotonicMs = (): MonotonicMs => {
    nowMs += 0.1;
    return nowMs as MonotonicMs;
  };
  const clock = { ...systemClock, monotonicMs };
  let readThisTurn = 0;
  let mostInATurn = 0;
  let turns = 0;
  let collections = 0;
  const source = {
    ...sampleSource(),
    *cameras() {
      collections += 1;
      for (const camera of cameras) {
        mostInATurn = Math.max(mostInATurn, ++readThisTurn);
        yield camera;
      }
    },
  };
  const metrics = new Metrics('1.2.3', { clock, source });
  let isMade = false;
  const first = metrics.exposition();
  void first.finally(() => {
    isMade = true;
  });
  const second = metrics.exposition();
  while (!isMade) {
    await nextTurn();
    turns += 1;
    readThisTurn = 0;
  }
  assert.equal(await first, await second);
  assert.equal(collections, 1);
  assert.equal((await first).match(/^svc_stream_online\{/gm)?.length, cameras.length);
  assert.ok(mostInATurn <= 40, `${mostInATurn} cameras were read in one turn`);
  assert.ok(turns > 10, `all was done in ${turns} turns`);
});
