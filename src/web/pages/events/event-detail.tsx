import { useEffect } from 'preact/hooks';
import { ArchiveView, useArchiveControl } from '../../archive/archive-view.js';
import { query } from '../../data/route.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { may } from '../../data/session.js';
import { Button, LinkButton } from '../../parts/button.js';
import { eventsText } from '../../text/events.js';
import { cameraName, titleOf } from './event-card.js';
import styles from './events.module.css';
import type { EventGroup } from './group-events.js';

/** Seen before it began, and after it ended. */
export const AROUND_MS = 3_000;
const MIN_SPAN_MS = 120_000;
const MAX_SPAN_MS = 6 * 3_600_000;

/** What is taken along of an event. */
export const rangeOf = ({ fromMs, toMs }: EventGroup): readonly [number, number] => [
  fromMs - AROUND_MS,
  Math.min((toMs ?? serviceNowMs()) + AROUND_MS, serviceNowMs()),
];

/** There, too, one goes from event to event of those that are filtered here. */
const archiveLink = ({ camera, fromMs }: EventGroup): string => {
  const link = new URLSearchParams({ cameras: camera, t: new Date(fromMs).toISOString() });
  const what = query.value.get('what');
  if (what !== null) link.set('what', what);
  return `/archive?${link}`;
};

export type DetailProps = {
  readonly group: EventGroup;
  /** The event that was opened: what happens after it is no other place to look at. */
  readonly openId: string;
  readonly onClose: () => void;
  readonly onReview: () => void;
  readonly onProtect: () => void;
};

/** An event, and what was recorded around it; its time is selected already. */
export const EventDetail = ({ group, openId, onClose, onReview, onProtect }: DetailProps) => {
  const control = useArchiveControl();
  const hasPictures = group.camera !== '';
  useEffect(() => {
    if (!hasPictures) return;
    const [fromMs, toMs] = rangeOf(group);
    control.show([group.camera]);
    control.selection.value = { fromMs, toMs };
    const spanMs = Math.min(Math.max((toMs - fromMs) * 3, MIN_SPAN_MS), MAX_SPAN_MS);
    control.goTo(fromMs, spanMs);
  }, [openId]);
  return (
    <section class={styles.detail} aria-label={eventsText('detail')}>
      <header class={styles.detailHead}>
        <Button icon="left" label={eventsText('close')} onClick={onClose} />
        <h2>
          {titleOf(group)} · {cameraName(group.camera)}
        </h2>
        <span class={styles.actions}>
          {may('events.review') ? (
            <Button icon="check" isPressed={group.isReviewed} onClick={onReview}>
              {eventsText('reviewed')}
            </Button>
          ) : null}
          {may('events.protect') && hasPictures ? (
            <Button
              icon="lock"
              isPressed={group.isProtected}
              label={eventsText(group.isProtected ? 'unprotect' : 'protect')}
              onClick={onProtect}
            />
          ) : null}
          {hasPictures ? (
            <LinkButton href={archiveLink(group)} icon="archive">
              {eventsText('openArchive')}
            </LinkButton>
          ) : null}
        </span>
      </header>
      {hasPictures ? <ArchiveView control={control} /> : <p>{group.events[0]?.detail}</p>}
    </section>
  );
};
