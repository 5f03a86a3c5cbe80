import { type Fields, fieldsOf, listOf, textOf } from './peer-yaml.js';
import { Plan, whyNotPulled } from './plan.js';

type Source = {
  readonly url: string;
  readonly transport: 'tcp' | 'udp';
  /** Why no camera is made of it. */
  readonly why: string | undefined;
  /** Names of options that nothing is made of. */
  readonly dropped: readonly string[];
};

/** Only names that we know are shown: behind a `#` that belongs to a password stands the rest of it. */
const OPTION_NAMES =
  /^(?:timeout|media|backchannel|transport|video|audio|input|width|height|rotate|hardware|raw)$/;
const MADE_USE_OF = /^transport=(?:tcp|udp)$|^backchannel=0$|^(?:video|audio)=copy$/;

const whyNotWatched = (options: readonly string[], isByFfmpeg: boolean): string | undefined => {
  if (options.some((option) => /^transport=(?!tcp$|udp$)/.test(option))) return 'is RTSP over WebSocket';
  const has = (name: string): boolean => options.some((option) => option.startsWith(`${name}=`));
  if (options.includes('media=audio') || (isByFfmpeg && has('audio') && !has('video')))
    return 'is sound alone';
  return undefined;
};

/**
 * A source as we would pull it. The options behind its address never reach a camera; ffmpeg isn't needed to pull
 * RTSP; `rtspx` asks for no certificate of whoever answers, as we do of none.
 */
export const sourceOf = (source: unknown): Source => {
  const [address = '', ...options] = textOf(source).trim().split('#');
  const isByFfmpeg = /^ffmpeg:rtsps?:/i.test(address);
  const url = (isByFfmpeg ? address.slice('ffmpeg:'.length) : address).replace(/^rtspx:/i, 'rtsps:');
  const names = options
    .filter((option) => !MADE_USE_OF.test(option))
    .map((option) => option.replace(/=.*$/s, ''));
  return {
    url,
    transport: options.includes('transport=udp') ? 'udp' : 'tcp',
    why: whyNotPulled(url) ?? whyNotWatched(options, isByFfmpeg),
    dropped: names.map((name) => (OPTION_NAMES.test(name) ? name : 'another')),
  };
};

/** A stream's sources: one, a list, or either as `url`. */
export const sourcesOf = (stream: unknown): readonly Source[] =>
  listOf(fieldsOf(stream)['url'] ?? stream).map(sourceOf);

/** go2rtc: of each stream the first source that is pulled by RTSP. It connects for viewers only, so here too. */
export const planOfGo2rtc = (file: Fields): Plan => {
  const plan = new Plan();
  plan.leaveFields('the file', file, { streams: null });
  for (const [name, stream] of Object.entries(fieldsOf(file['streams']))) {
    const sources = sourcesOf(stream);
    const taken = sources.find(({ why }) => why === undefined);
    for (const [index, source] of sources.entries()) {
      const where = `${name}, source ${index + 1}`;
      if (source !== taken) plan.leave(where, source.why ?? 'the stream has a camera already');
      else if (source.dropped.length > 0)
        plan.leave(where, `options not taken over: ${source.dropped.join(', ')}`);
    }
    if (taken !== undefined) plan.add(name, { url: taken.url, transport: taken.transport, on_demand: true });
    if (sources.length === 0) plan.leave(name, 'has no source');
  }
  return plan;
};
