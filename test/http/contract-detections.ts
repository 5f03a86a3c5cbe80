import assert from 'node:assert/strict';
import type { ApiAnswer } from '../support/api-client.js';

type Get = (path: string, headers?: Record<string, string>) => Promise<ApiAnswer>;

/** Asks what was seen, which is nothing. */
export const callDetections = async (
  get: Get,
  path: string,
  bearer: Readonly<Record<string, string>>,
): Promise<void> => {
  const nothing = await get(path, bearer);
  assert.deepEqual([nothing.status, nothing.body], [200, []]);
  const known = { ...bearer, 'if-none-match': nothing.headers.get('etag') ?? '' };
  assert.equal((await get(path, known)).status, 304);
  assert.equal((await get(`${path}&cursor=never`, bearer)).status, 400);
};

/** Plays a recording, and the time that it is of, with subtitles. */
export const callSubtitles = async (
  get: Get,
  cameraId: string,
  file: string,
  when: string,
): Promise<void> => {
  for (const [address, wanted] of [
    [`archive-master.m3u8?file=${file}`, /SUBTITLES="subs"\narchive\.m3u8/],
    [`range-master.m3u8?${when}`, /SUBTITLES="subs"\nrange\.m3u8/],
    [`archive-subs.m3u8?file=${file}`, /subs\.vtt/],
    [`range-subs.m3u8?${when}`, /subs\.vtt/],
    [`subs.vtt?file=${file}&seq=0`, /^WEBVTT/],
  ] as const)
    assert.match((await get(`/hls/${cameraId}/${address}`)).text, wanted);
};
