import type { Signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { folders, tags } from '../../data/cameras.js';
import { changeLayout, createLayout, deleteLayout, type Layout, layouts } from '../../data/layouts.js';
import { type Preferences, setPreferences } from '../../data/preferences.js';
import { asProblem, type Problem } from '../../data/problem.js';
import { navigate, setQuery } from '../../data/route.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { may, me } from '../../data/session.js';
import { showClock, zoneName } from '../../data/time.js';
import { Button } from '../../parts/button.js';
import { confirm } from '../../parts/confirm.js';
import { BarSpace, FullPageBar } from '../../parts/full-page.js';
import { Menu, type MenuItem } from '../../parts/menu.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Select } from '../../parts/select.js';
import { toast } from '../../parts/toasts.js';
import { useShortcuts } from '../../parts/use-shortcuts.js';
import { wallText } from '../../text/wall.js';
import { CameraPicker } from './camera-picker.js';
import type { FullScreen } from './full-screen.js';
import { enlargesEvents, tourChoices, tourSec } from './moving.js';
import { NameDialog } from './name-dialog.js';
import { formOf, type Grid, grids } from './slots.js';
import styles from './wall.module.css';
import type { WallChoice } from './wall-choice.js';
import { wallCounts } from './wall-counts.js';

export type ToolbarProps = {
  readonly wall: WallChoice;
  readonly grid: Grid;
  readonly page: number;
  readonly pages: number;
  readonly slots: readonly (string | null)[];
  readonly isEditing: Signal<boolean>;
  readonly fullScreen: FullScreen;
  readonly onTurn: (by: number) => void;
};

const Clock = () => {
  const [nowMs, setNowMs] = useState(serviceNowMs());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(serviceNowMs()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time class={styles.clock}>
      {showClock(nowMs)} {zoneName.value}
    </time>
  );
};

const Status = () => (
  <span class={styles.status} role="status">
    {wallText('counts', wallCounts.value)}
  </span>
);

const wallOptions = () => [
  { value: 'all', label: wallText('all') },
  ...(layouts.value ?? []).map(({ id, name }) => ({ value: id, label: name })),
  ...folders.value.map(({ id, name }) => ({ value: `folder:${id}`, label: wallText('folder', { name }) })),
  ...tags.value.map(({ id, name }) => ({ value: `tag:${id}`, label: wallText('tag', { name }) })),
];

type Naming = { readonly initial: string; readonly keep: (name: string) => Promise<void> };

/** What can be done with the wall that is shown. */
const useLayoutItems = (
  props: ToolbarProps,
  name: (naming: Naming) => void,
  fail: (fault: unknown) => void,
) => {
  const { wall, grid, slots, isEditing } = props;
  const create = (tiles: readonly (string | null)[], isEdited: boolean): void =>
    name({
      initial: '',
      keep: async (given) => {
        const body = { name: given, grid, tiles: tiles.map((id) => ({ camera_id: id ?? '' })) };
        const { id } = await createLayout(body);
        isEditing.value = isEdited;
        navigate(`/wall/${id}`);
        toast({ text: wallText('saved', { name: given }) });
      },
    });
  const items: MenuItem[] = [
    { label: wallText('saveAs'), icon: 'save', onSelect: () => create(slots, false) },
    {
      label: wallText('newLayout'),
      icon: 'plus',
      onSelect: () => create(new Array<null>(formOf(grid).tiles).fill(null), true),
    },
  ];
  const { layout } = wall;
  const isMine = layout?.owner === me.value?.username;
  if (layout === null || !(isMine || (layout.shared && may('layouts.share')))) return items;
  return [...items, ...itemsOf(layout, isMine, isEditing, name, fail)];
};

const itemsOf = (
  layout: Layout,
  isMine: boolean,
  isEditing: Signal<boolean>,
  name: (naming: Naming) => void,
  fail: (fault: unknown) => void,
): MenuItem[] => {
  const remove = async (): Promise<void> => {
    const title = wallText('removeTitle', { name: layout.name });
    const action = wallText('removeAction');
    if (!(await confirm({ title, text: wallText('removeText'), action, isDangerous: true }))) return;
    await deleteLayout(layout);
    navigate('/wall/all');
    toast({ text: wallText('removed', { name: layout.name }) });
  };
  const share = (): Promise<void> => changeLayout(layout, { shared: !layout.shared });
  const mayShare = may('layouts.share') && (isMine || !layout.shared);
  return [
    ...(layout.source.kind === 'hand'
      ? [
          {
            label: wallText('edit'),
            icon: 'edit' as const,
            onSelect: () => {
              isEditing.value = true;
            },
          },
        ]
      : []),
    {
      label: wallText('rename'),
      icon: 'edit',
      onSelect: () => name({ initial: layout.name, keep: (given) => changeLayout(layout, { name: given }) }),
    },
    ...(mayShare
      ? [
          {
            label: wallText(layout.shared ? 'unshare' : 'share'),
            icon: 'share' as const,
            onSelect: () => void share().catch(fail),
          },
        ]
      : []),
    {
      label: wallText('remove'),
      icon: 'remove',
      isDangerous: true,
      onSelect: () => void remove().catch(fail),
    },
  ];
};

const keep = (changes: Preferences): void =>
  void setPreferences(changes).catch((fault: unknown) => toast({ text: asProblem(fault).detail }));

/** What may move by itself, which nothing does unless somebody wants it. */
const MovingMenu = ({ pages }: { readonly pages: number }) => {
  const sec = tourSec();
  const isEnlarging = enlargesEvents();
  const isOn = (sec > 0 && pages > 1) || isEnlarging;
  return (
    <Menu
      icon="tour"
      kind="quiet"
      label={wallText(isOn ? 'movingOn' : 'moving')}
      items={[
        { label: wallText('tourOff'), isChosen: sec === 0, onSelect: () => keep({ tourSec: 0 }) },
        ...tourChoices.map((seconds) => ({
          label: wallText('tourEvery', { seconds }),
          isChosen: sec === seconds,
          onSelect: () => keep({ tourSec: seconds }),
          ...(pages > 1 ? {} : { notNow: wallText('tourOnePage') }),
        })),
        {
          label: wallText(isEnlarging ? 'enlargeOff' : 'enlargeOn'),
          icon: isEnlarging ? ('minimize' as const) : ('maximize' as const),
          onSelect: () => keep({ enlargesEvents: !isEnlarging }),
        },
      ]}
    >
      {isOn ? (
        <span>
          {sec > 0 && pages > 1 ? wallText('tourShort', { seconds: sec }) : wallText('enlargeShort')}
        </span>
      ) : null}
    </Menu>
  );
};

/** Which wall, how it is divided, how it is, and what can be done with it. */
export const Toolbar = (props: ToolbarProps) => {
  const { wall, grid, page, pages, isEditing, fullScreen, onTurn } = props;
  const [naming, setNaming] = useState<Naming | null>(null);
  const [isFinding, setIsFinding] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const items = useLayoutItems(props, setNaming, (fault) => setProblem(asProblem(fault)));
  useShortcuts({
    title: wallText('keys'),
    shortcuts: [{ keys: ['/'], does: wallText('keyFind'), run: () => setIsFinding(true) }],
  });
  const chooseGrid = (next: string): void => {
    setQuery({ grid: next, page: null });
    const { layout } = wall;
    if (isEditing.peek() && layout !== null)
      void changeLayout(layout, { grid: next as Grid }).catch((fault: unknown) =>
        setProblem(asProblem(fault)),
      );
  };
  return (
    <>
      <FullPageBar>
        <h1 class="visually-hidden">{wall.title}</h1>
        <Select
          label={wallText('layouts')}
          isLabelHidden
          options={wallOptions()}
          value={wall.name}
          onChange={(name) => navigate(`/wall/${encodeURIComponent(name)}`)}
        />
        <Select
          label={wallText('grid')}
          isLabelHidden
          options={grids.map((each) => ({ value: each, label: each.replace('x', '×') }))}
          value={grid}
          onChange={chooseGrid}
        />
        <Button icon="search" kind="quiet" label={wallText('find')} onClick={() => setIsFinding(true)} />
        {pages > 1 ? (
          <span class={styles.turner}>
            <Button
              icon="left"
              kind="quiet"
              label={wallText('pagePrevious')}
              isDisabled={page === 1}
              onClick={() => onTurn(-1)}
            />
            {wallText('page', { page, pages })}
            <Button
              icon="right"
              kind="quiet"
              label={wallText('pageNext')}
              isDisabled={page === pages}
              onClick={() => onTurn(1)}
            />
          </span>
        ) : null}
        <BarSpace />
        <Status />
        <Clock />
        {isEditing.value ? (
          <Button kind="primary" onClick={() => (isEditing.value = false)}>
            {wallText('editEnd')}
          </Button>
        ) : null}
        <MovingMenu pages={pages} />
        <Menu icon="more" kind="quiet" label={wallText('more')} items={items} />
        {fullScreen.mayBe ? (
          <Button
            icon={fullScreen.isOn ? 'minimize' : 'maximize'}
            kind="quiet"
            label={wallText(fullScreen.isOn ? 'fullScreenEnd' : 'fullScreen')}
            onClick={fullScreen.toggle}
          />
        ) : null}
      </FullPageBar>
      {problem === null ? null : <ProblemBox what={wallText('changeFailed')} problem={problem} />}
      {naming === null ? null : (
        <NameDialog initial={naming.initial} keep={naming.keep} onClose={() => setNaming(null)} />
      )}
      {isFinding ? (
        <CameraPicker
          title={wallText('find')}
          onClose={() => setIsFinding(false)}
          onPick={(id) => id !== null && navigate(`/camera/${encodeURIComponent(id)}`)}
        />
      ) : null}
    </>
  );
};
