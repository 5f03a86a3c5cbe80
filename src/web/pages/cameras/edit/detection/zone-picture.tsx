import { useEffect, useRef, useState } from 'preact/hooks';
import { loadMoment } from '../../../../data/timeline.js';
import { detectionText } from '../../../../text/detection.js';
import styles from './detection.module.css';
import {
  mayGrow,
  mayShrink,
  type Point,
  percentOf,
  pointAt,
  withCorner,
  withoutCorner,
  withPoint,
  type Zone,
} from './zones.js';

const WIDTH = 960;
const KEY_STEP = 0.01;
const FAST = 5;
const MOVES: Readonly<Record<string, Point>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const cornersOf = ({ points }: Zone): string => points.map(([x, y]) => `${x * 100},${y * 100}`).join(' ');

/** What the camera sees now; null: not yet; "": there is no picture. */
const usePicture = (cameraId: string | null): string | null => {
  const [url, setUrl] = useState<string | null>(cameraId === null ? '' : null);
  useEffect(() => {
    if (cameraId === null) return;
    const abort = new AbortController();
    let made = '';
    void loadMoment(cameraId, null, WIDTH, abort.signal).then((blob) => {
      if (abort.signal.aborted) return;
      made = blob === null ? '' : URL.createObjectURL(blob);
      setUrl(made);
    });
    return () => {
      abort.abort();
      if (made !== '') URL.revokeObjectURL(made);
    };
  }, [cameraId]);
  return url;
};

type Props = {
  /** null: it is a new one, which has no picture yet. */
  readonly cameraId: string | null;
  readonly zones: readonly Zone[];
  /** Which of them is edited; -1: none. */
  readonly chosen: number;
  readonly onChange: (zone: Zone) => void;
};

/** The zones over the camera's picture; corners of the chosen one are dragged, or moved with arrows. */
export const ZonePicture = ({ cameraId, zones, chosen, onChange }: Props) => {
  const url = usePicture(cameraId);
  const box = useRef<HTMLDivElement>(null);
  const zone = zones[chosen];
  return (
    <div class={styles.picture} ref={box}>
      {url === null || url === '' ? (
        <p class={styles.noPicture}>{detectionText(url === null ? 'loading' : 'noPicture')}</p>
      ) : (
        <img src={url} alt={detectionText('picture')} draggable={false} />
      )}
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        {zones.map((each, nth) => (
          <polygon
            key={each.name}
            points={cornersOf(each)}
            data-kind={each.kind}
            data-chosen={nth === chosen ? '' : undefined}
          />
        ))}
      </svg>
      {zone === undefined ? null : <Corners zone={zone} box={box} onChange={onChange} />}
    </div>
  );
};

const Corners = ({
  zone,
  box,
  onChange,
}: {
  readonly zone: Zone;
  readonly box: { readonly current: HTMLDivElement | null };
  readonly onChange: (zone: Zone) => void;
}) => {
  const placeOf = ({ clientX, clientY }: PointerEvent): Point | null => {
    const area = box.current?.getBoundingClientRect();
    if (area === undefined || area.width === 0) return null;
    return pointAt((clientX - area.left) / area.width, (clientY - area.top) / area.height);
  };
  const drag = (event: PointerEvent, nth: number): void => {
    const place = placeOf(event);
    const { currentTarget } = event;
    if (
      place !== null &&
      currentTarget instanceof Element &&
      currentTarget.hasPointerCapture(event.pointerId)
    )
      onChange(withPoint(zone, nth, place));
  };
  const onKey = (event: KeyboardEvent, nth: number): void => {
    const [x, y] = zone.points[nth]!;
    const move = MOVES[event.key];
    const step = KEY_STEP * (event.shiftKey ? FAST : 1);
    if (move !== undefined) onChange(withPoint(zone, nth, pointAt(x + move[0] * step, y + move[1] * step)));
    else if (event.key === 'Delete') onChange(withoutCorner(zone, nth));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      {mayGrow(zone)
        ? zone.points.map(([x, y], nth) => {
            const [nextX, nextY] = zone.points[(nth + 1) % zone.points.length]!;
            return (
              <button
                key={`after ${nth}`}
                type="button"
                class={styles.between}
                style={{ left: `${(x + nextX) * 50}%`, top: `${(y + nextY) * 50}%` }}
                tabIndex={-1}
                aria-hidden="true"
                onClick={() => onChange(withCorner(zone, nth))}
              />
            );
          })
        : null}
      {zone.points.map(([x, y], nth) => (
        <button
          key={`corner ${nth}`}
          type="button"
          class={styles.corner}
          style={{ left: `${x * 100}%`, top: `${y * 100}%` }}
          aria-label={detectionText('cornerAt', { nth: nth + 1, x: percentOf(x), y: percentOf(y) })}
          title={detectionText(mayShrink(zone) ? 'cornerKeys' : 'cornerKeysLeast')}
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={(event) => drag(event, nth)}
          onKeyDown={(event) => onKey(event, nth)}
        />
      ))}
    </>
  );
};
