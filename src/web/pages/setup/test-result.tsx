import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../../data/session.js';
import type { CameraTestResult } from '../../data/types.js';
import { Badge } from '../../parts/states.js';
import { firstPicture } from '../../player/first-picture.js';
import { setupText } from '../../text/setup.js';
import styles from './setup.module.css';

/** The picture can be had once: drawn at once, and its bytes forgotten. */
const draw = async (id: string, canvas: HTMLCanvasElement, signal: AbortSignal): Promise<void> => {
  const answer = await call('GET', `/api/cameras/test/${encodeURIComponent(id)}/frames`, { signal });
  const frame = await firstPicture(new Uint8Array(await answer.arrayBuffer()));
  canvas.width = frame.displayWidth;
  canvas.height = frame.displayHeight;
  canvas.getContext('2d')?.drawImage(frame, 0, 0);
  frame.close();
};

/** How a camera answered that isn't configured yet, with what it shows. */
export const TestResult = ({ result }: { readonly result: CameraTestResult }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isShown, setIsShown] = useState(true);
  useEffect(() => {
    if (!result.ok || canvas.current === null) return;
    const abort = new AbortController();
    draw(result.test_id, canvas.current, abort.signal).catch(() => {
      if (!abort.signal.aborted) setIsShown(false);
    });
    return () => abort.abort();
  }, [result.test_id]);
  if (!result.ok)
    return (
      <div class={styles.result} role="status">
        <Badge tone="danger">{result.code}</Badge>
        <p>{result.detail}</p>
      </div>
    );
  const { codec, width, height, fps } = result;
  return (
    <div class={styles.result} role="status">
      <Badge tone="ok">{setupText('works', { codec, width, height, fps: Math.round(fps) })}</Badge>
      {isShown ? (
        <canvas ref={canvas} width={640} height={360} role="img" aria-label={setupText('pictureOf')} />
      ) : (
        <p>{setupText('noPicture')}</p>
      )}
    </div>
  );
};
