import { useEffect, useRef, useState } from 'preact/hooks';
import { durationText } from '../../archive/tape/selection.js';
import type { Zone } from '../../archive/tape/zone.js';
import { cameras, nameOf } from '../../data/cameras.js';
import { loadEventPicture } from '../../data/kept-events.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { loadMoment } from '../../data/timeline.js';
import { Icon } from '../../parts/icon.js';
import type { IconName } from '../../parts/icons.js';
import { reasonText } from '../../text/archive.js';
import { eventsText } from '../../text/events.js';
import styles from './events.module.css';
import type { EventGroup } from './group-events.js';

const KEYFRAMES = 8;
const KEYFRAME_WIDTH = 320;
const KEYFRAME_MS = 300;
const MIN_PLAYED_MS = 8_000;

const icons: Readonly<Record<EventGroup['type'], IconName>> = {
  camera_lost: 'offline',
  recording_gap: 'cut',
  storage: 'disk',
  detection: 'person',
  motion: 'activity',
  rule: 'bell',
};

export const titleOf = ({ type, label }: Pick<EventGroup, 'type' | 'label'>): string =>
  label === '' ? eventsText(`type_${type}`) : label;

export const cameraName = (id: string): string => {
  if (id === '') return eventsText('site');
  const camera = cameras.value?.get(id);
  return camera === undefined ? id : nameOf(camera);
};

const lastsText = ({ fromMs, toMs }: EventGroup): string =>
  toMs === null ? eventsText('goesOn') : durationText(Math.max(toMs - fromMs, 1_000));

/** Its picture once it comes into sight, and while somebody looks at it 8 keyframes of it. */
const usePictures = (group: EventGroup, isPlaying: boolean) => {
  const box = useRef<HTMLDivElement>(null);
  const [still, setStill] = useState<string | null>(null);
  const [moving, setMoving] = useState<readonly string[]>([]);
  const [at, setAt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    const urls: string[] = [];
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting !== true || group.camera === '') return;
      observer.disconnect();
      void loadEventPicture(group.id, abort.signal).then((blob) => {
        if (blob === null || abort.signal.aborted) return;
        const url = URL.createObjectURL(blob);
        urls.push(url);
        setStill(url);
      });
    });
    if (box.current !== null) observer.observe(box.current);
    return () => {
      observer.disconnect();
      abort.abort();
      for (const url of urls) URL.revokeObjectURL(url);
    };
  }, [group.id]);
  useEffect(() => {
    if (!isPlaying || still === null || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const abort = new AbortController();
    const urls: string[] = [];
    void loadMoments(group, abort.signal, (url) => {
      urls.push(url);
      setMoving([...urls]);
    });
    const timer = setInterval(() => setAt((before) => before + 1), KEYFRAME_MS);
    return () => {
      abort.abort();
      clearInterval(timer);
      setMoving([]);
      for (const url of urls) URL.revokeObjectURL(url);
    };
  }, [isPlaying, still, group.id]);
  return { box, url: moving.length > 0 ? moving[at % moving.length]! : still };
};

const loadMoments = async (
  { camera, fromMs, toMs }: EventGroup,
  signal: AbortSignal,
  onUrl: (url: string) => void,
): Promise<void> => {
  const lengthMs = Math.max((toMs ?? serviceNowMs()) - fromMs, MIN_PLAYED_MS);
  for (let index = 0; index < KEYFRAMES && !signal.aborted; index += 1) {
    const momentMs = Math.min(fromMs + (lengthMs * index) / KEYFRAMES, serviceNowMs());
    const blob = await loadMoment(camera, momentMs, KEYFRAME_WIDTH, signal);
    if (blob !== null && !signal.aborted) onUrl(URL.createObjectURL(blob));
  }
};

export type CardProps = {
  readonly group: EventGroup;
  readonly zone: Zone;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
  readonly onOpen: () => void;
  readonly onSelect: () => void;
};

/** One card: what, where, when, and a picture of it. */
export const EventCard = ({ group, zone, isOpen, isSelected, onOpen, onSelect }: CardProps) => {
  const [isLookedAt, setIsLookedAt] = useState(false);
  const { box, url } = usePictures(group, isLookedAt);
  const title = titleOf(group);
  const detail = group.events[0]?.detail ?? '';
  return (
    <li
      class={`${styles.card} ${isSelected ? styles.selected : ''}`}
      data-event={group.id}
      onMouseEnter={() => setIsLookedAt(true)}
      onMouseLeave={() => setIsLookedAt(false)}
      onFocusIn={() => setIsLookedAt(true)}
      onFocusOut={() => setIsLookedAt(false)}
    >
      <button type="button" class={styles.open} aria-current={isOpen ? 'true' : undefined} onClick={onOpen}>
        <div class={styles.picture} ref={box}>
          {url === null ? <Icon name={icons[group.type]} /> : <img src={url} alt="" />}
        </div>
        <span class={styles.title}>
          <Icon name={icons[group.type]} />
          <strong>{title}</strong>
          {group.events.length > 1 ? eventsText('count', { count: group.events.length }) : null}
          <span class={styles.lasts}>{lastsText(group)}</span>
        </span>
        <span class={styles.where}>
          {cameraName(group.camera)} · {zone.dateAndClock(group.fromMs)}
        </span>
        {detail === '' ? null : <small class={styles.detailText}>{reasonText(detail)}</small>}
        <span class={styles.marks}>
          {group.isReviewed ? null : <span class={styles.new}>{eventsText('onlyNew')}</span>}
          {group.isProtected ? (
            <span class={styles.kept}>
              <Icon name="lock" /> {eventsText('protected')}
            </span>
          ) : null}
        </span>
      </button>
      <label class={styles.check}>
        <input
          type="checkbox"
          aria-label={`${eventsText('select')}: ${title}, ${cameraName(group.camera)}`}
          checked={isSelected}
          onChange={onSelect}
        />
      </label>
    </li>
  );
};
