import type { Signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { loadMoment } from '../../data/timeline.js';
import { labelsAt, stateAt } from './lane.js';
import styles from './tape.module.css';
import type { Hover, TapeModel } from './tape-state.js';
import { type LoadPicture, Thumbnails } from './thumbnails.js';

/** Pictures are asked for as far apart as so many pixels. */
const EVERY_PX = 12;
const AFTER_MS = 120;
const THUMBNAIL_WIDTH = 160;

const load: LoadPicture = (camera, atMs, signal) => loadMoment(camera, atMs, THUMBNAIL_WIDTH, signal);

/** What is under the pointer: its time, a picture of it, and if there is none, why. */
export const TapeHover = ({
  model,
  hover,
}: {
  readonly model: TapeModel;
  readonly hover: Signal<Hover | null>;
}) => {
  const [thumbnails] = useState(() => new Thumbnails(load));
  const [picture, setPicture] = useState<{ readonly key: string; readonly url: string } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => () => thumbnails.close(), []);
  const at = hover.value;
  const lane = at === null ? undefined : model.lanes.value.get(at.camera);
  const isRecorded = at !== null && lane !== undefined && stateAt(lane, at.timeMs).kind === 'recorded';
  const key = isRecorded ? at.camera : '';
  useEffect(() => {
    if (at === null || !isRecorded) return;
    let isCurrent = true;
    const timer = setTimeout(() => {
      const { spanMs } = model.view.peek();
      const parent = box.current?.parentElement;
      const everyMs = Math.max(250, (spanMs * EVERY_PX) / Math.max(parent?.clientWidth ?? 1, 1));
      void thumbnails.get(at.camera, at.timeMs, everyMs).then((url) => {
        if (isCurrent && url !== null) setPicture({ key: at.camera, url });
      });
    }, AFTER_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [at?.timeMs, at?.camera, isRecorded]);
  useEffect(() => {
    const element = box.current;
    if (element === null || at === null) return;
    const room = element.parentElement?.clientWidth ?? 0;
    const half = element.offsetWidth / 2;
    element.style.left = `${Math.min(Math.max(at.x - half, 0), Math.max(room - 2 * half, 0))}px`;
  });
  if (at === null) return null;
  const zone = model.zone.value;
  return (
    <div class={styles.hover} ref={box}>
      {isRecorded && picture?.key === key ? (
        <img class={styles.thumbnail} src={picture.url} alt="" width={THUMBNAIL_WIDTH} />
      ) : null}
      <strong>{zone.clock(at.timeMs)}</strong>
      <span>{isRecorded ? labelsAt(lane, at.timeMs).join(', ') : model.describe(at.camera, at.timeMs)}</span>
    </div>
  );
};
