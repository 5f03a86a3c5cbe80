import { useEffect, useRef } from 'preact/hooks';
import type { CameraTestResult } from '../../../data/types.js';
import { Icon } from '../../../parts/icon.js';
import { cures, testText } from '../../../text/camera-tests.js';
import styles from './many.module.css';
import { pictureOf } from './test-pictures.js';
import type { TestState } from './test-queue.js';

const MS_PER_SEC = 1_000;
const seconds = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const rate = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
/** Sizes that have a name. */
const NAMED_HEIGHTS: ReadonlySet<number> = new Set([240, 360, 480, 576, 720, 1_080, 1_440, 2_160]);

const sizeText = ({ width, height }: CameraTestResult): string =>
  width >= height && NAMED_HEIGHTS.has(height) ? `${height}p` : `${width}×${height}`;

/** "h264 1080p 25 fps, keyframe 2 s, AAC" */
const foundText = (result: CameraTestResult): string => {
  const { codec, fps, keyframe_ms: keyframeMs, audio_codec: audio } = result;
  const size = sizeText(result);
  const picture =
    fps > 0
      ? testText('found', { codec, size, fps: rate.format(fps) })
      : testText('foundNoRate', { codec, size });
  const keyframe =
    keyframeMs === null ? [] : [testText('keyframe', { seconds: seconds.format(keyframeMs / MS_PER_SEC) })];
  return [picture, ...keyframe, audio === '' ? testText('noSound') : audio.toUpperCase()].join(', ');
};

const subText = (state: TestState): string => {
  if (state.step === 'done') return testText('foundSub', { size: sizeText(state.result) });
  return `${testText('sub')}: ${testText(state.step === 'running' ? 'testing' : 'waiting')}`;
};

type Cure = Parameters<typeof cures>[0];
const known: ReadonlySet<string> = new Set<Cure>([
  ...(['unauthorized', 'not_found', 'connection_refused', 'host_unreachable', 'timeout'] as const),
  ...(['unsupported_codec', 'unsupported_transport', 'closed_by_camera', 'protocol_error'] as const),
  ...(['bad_sdp', 'server_error', 'no_keyframe', 'no_picture', 'stalled', 'bad_url', 'not_tested'] as const),
]);

const cureText = (code: string): string => cures(known.has(code) ? (code as Cure) : 'other');

/** What the test saw, once it is decoded. */
const Picture = ({ testId }: { readonly testId: string }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = pictureOf(testId).value;
  useEffect(() => {
    if (picture === null || canvas.current === null) return;
    canvas.current.width = picture.width;
    canvas.current.height = picture.height;
    canvas.current.getContext('2d')?.drawImage(picture, 0, 0);
  }, [picture]);
  if (picture === null) return null;
  return <canvas ref={canvas} class={styles.picture} role="img" aria-label={testText('picture')} />;
};

/** How a test stands, or went: what the camera sends, with a picture; or why not, and its cure. */
export const TestResult = ({
  state,
  isSub = false,
  sub = null,
}: {
  readonly state: TestState;
  /** Whether it is told of the smaller stream. */
  readonly isSub?: boolean;
  /** What is told of the smaller stream beside it. */
  readonly sub?: TestState | null;
}) => {
  if (state.step !== 'done')
    return (
      <span class={`${styles.told} ${styles.busy}`}>
        <Icon name="refresh" />
        {testText(state.step === 'running' ? 'testing' : 'waiting')}
      </span>
    );
  const { result } = state;
  if (result.ok)
    return (
      <span class={styles.result}>
        <span class={`${styles.told} ${styles.good}`}>
          <Icon name="ok" />
          <span>
            {foundText(result)}
            {sub === null ? null : <small> · {subText(sub)}</small>}
          </span>
        </span>
        <Picture testId={result.test_id} />
      </span>
    );
  return (
    <span class={`${styles.told} ${styles.bad}`} title={result.detail}>
      <Icon name="warning" />
      <span>
        {isSub ? `${testText('sub')}: ` : ''}
        {cureText(result.code)} <small>{result.detail}</small>
      </span>
    </span>
  );
};
