import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { cameraList, nameOf } from '../../data/cameras.js';
import { query, setQuery } from '../../data/route.js';
import { showClock, zoneName } from '../../data/time.js';
import { Button } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import type { IconName } from '../../parts/icons.js';
import { Select } from '../../parts/select.js';
import { Badge, EmptyState } from '../../parts/states.js';
import { logsText } from '../../text/logs.js';
import type { PageProps } from '../table.js';
import { type Level, LogFeed, type LogRecord, MAX_RECORDS } from './log-feed.js';
import styles from './logs.module.css';

const levels: readonly Level[] = ['debug', 'info', 'warn', 'error'];
const icons: Readonly<Record<Level, IconName>> = {
  trace: 'more',
  debug: 'more',
  info: 'info',
  warn: 'warning',
  error: 'fault',
  fatal: 'fault',
};
/** So near to the end, new records are scrolled to. */
const NEAR_END_PX = 60;

/** What scrolls must be reached by keys, too. */
const scrolledByKeys = { tabIndex: 0 };

const pathOf = (level: string, camera: string): string => {
  const wanted = new URLSearchParams();
  if (level !== 'debug') wanted.set('level', level);
  if (camera !== '') wanted.set('camera_id', camera);
  return `/api/logs/stream?${wanted}`;
};

const fits = ({ message, rest, camera }: LogRecord, text: string): boolean =>
  text === '' || `${message} ${camera} ${rest}`.toLowerCase().includes(text);

const RecordLine = ({ record }: { readonly record: LogRecord }) => {
  const tone = record.level === 'fatal' ? 'error' : record.level;
  return (
    <li class={`${styles.record} ${styles[tone] ?? ''}`}>
      <time class={styles.time} dateTime={new Date(record.timeMs || 0).toISOString()}>
        {showClock(record.timeMs || 0)}
      </time>
      <span class={styles.level}>
        <Icon name={icons[record.level]} />
        {logsText(record.level)}
      </span>
      <span class={styles.camera} title={record.camera}>
        {record.camera}
      </span>
      <span class={styles.text}>
        {record.message}
        <span class={styles.rest}>{record.rest}</span>
      </span>
    </li>
  );
};

const Bar = ({ feed, level, camera }: { feed: LogFeed; level: string; camera: string }) => (
  <div class={styles.bar}>
    <h1>{logsText('title')}</h1>
    <Select
      label={logsText('level')}
      options={levels.map((each) => ({ value: each, label: logsText(each) }))}
      value={level}
      onChange={(value) => setQuery({ level: value === 'info' ? null : value }, { isReplaced: true })}
    />
    <Select
      label={logsText('camera')}
      isLabelHidden
      options={[
        { value: '', label: logsText('allCameras') },
        ...cameraList.value.map((each) => ({ value: each.id, label: nameOf(each) })),
      ]}
      value={camera}
      onChange={(value) => setQuery({ camera: value || null }, { isReplaced: true })}
    />
    <input
      class={styles.find}
      type="search"
      aria-label={logsText('find')}
      placeholder={logsText('find')}
      value={query.value.get('find') ?? ''}
      onInput={(event) => setQuery({ find: event.currentTarget.value || null }, { isReplaced: true })}
    />
    <Button
      icon={feed.isPaused.value ? 'play' : 'pause'}
      isPressed={feed.isPaused.value}
      onClick={() => feed.pause(!feed.isPaused.peek())}
    >
      {feed.isPaused.value ? logsText('goOn', { count: feed.held.value }) : logsText('pause')}
    </Button>
    <Button icon="remove" onClick={() => feed.clear()}>
      {logsText('clear')}
    </Button>
  </div>
);

const Foot = ({ feed }: { readonly feed: LogFeed }) => (
  <div class={styles.foot}>
    {feed.isPaused.value ? (
      <Badge tone="warn" icon="pause">
        {logsText('paused')}
      </Badge>
    ) : feed.isOpen.value ? (
      <Badge tone="ok" icon="activity">
        {logsText('live')}
      </Badge>
    ) : (
      <Badge tone="warn" icon="offline">
        {logsText('away')}
      </Badge>
    )}
    <span>{logsText('list', { zone: zoneName.value })}</span>
    {feed.isCut.value ? <span>{logsText('dropped', { count: MAX_RECORDS })}</span> : null}
  </div>
);

/** The service's log, live. What is filtered stands in the address. */
export const page = (_props: PageProps) => {
  const level = query.value.get('level') ?? 'info';
  const camera = query.value.get('camera') ?? '';
  const text = (query.value.get('find') ?? '').toLowerCase();
  const feed = useMemo(() => new LogFeed(pathOf(level, camera)), [level, camera]);
  useEffect(() => () => feed.close(), [feed]);
  const list = useRef<HTMLUListElement>(null);
  const isAtEnd = useRef(true);
  useSignalEffect(() => {
    if (feed.records.value.length === 0) return;
    // Who has scrolled up reads: new records don't move what is read.
    requestAnimationFrame(() => {
      if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight });
    });
  });
  const shown = feed.records.value.filter((record) => fits(record, text));
  return (
    <div class={styles.page}>
      <Bar feed={feed} level={level} camera={camera} />
      {shown.length === 0 ? (
        <EmptyState icon="logs" text={logsText(feed.isOpen.value ? 'none' : 'waiting')} />
      ) : (
        <ul
          ref={list}
          class={styles.list}
          {...scrolledByKeys}
          aria-label={logsText('list', { zone: zoneName.value })}
          onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
            isAtEnd.current = scrollTop + clientHeight > scrollHeight - NEAR_END_PX;
          }}
        >
          {shown.map((record) => (
            <RecordLine key={record.key} record={record} />
          ))}
        </ul>
      )}
      <Foot feed={feed} />
    </div>
  );
};
