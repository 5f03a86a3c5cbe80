import type { FunctionComponent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { cameraList, cameras, camerasProblem, loadCameras, nameOf } from '../../data/cameras.js';
import { preferences, toggleDetections } from '../../data/preferences.js';
import { asProblem, type Problem } from '../../data/problem.js';
import { navigate, query } from '../../data/route.js';
import { may } from '../../data/session.js';
import { isPageDark } from '../../data/theme.js';
import type { Camera } from '../../data/types.js';
import { Button, LinkButton } from '../../parts/button.js';
import { BarSpace, FullPage, FullPageBar } from '../../parts/full-page.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { EmptyState } from '../../parts/states.js';
import { UntilKnown } from '../../parts/until-known.js';
import { useShortcuts } from '../../parts/use-shortcuts.js';
import type { Rung } from '../../player/ladder.js';
import { LivePicture, TileBadges, tileStateText } from '../../player/live-picture.js';
import { livePlayer } from '../../player/live-player.js';
import type { LiveTile } from '../../player/live-tile.js';
import { useLiveTile } from '../../player/use-live-tile.js';
import { moveText } from '../../text/move-camera.js';
import { shellText } from '../../text/shell.js';
import { cameraText, wallText } from '../../text/wall.js';
import type { PageProps } from '../table.js';
import { useFullScreen } from '../wall/full-screen.js';
import styles from './camera.module.css';
import { Controls } from './controls.js';
import { Figures } from './figures.js';
import { keepPicture } from './keep-picture.js';
import { MovePanel } from './move-panel.js';
import { useZoom } from './use-zoom.js';

const ZOOM_STEP = 1.5;

const wallPath = (): string => `/wall/${encodeURIComponent(preferences.peek().lastWall ?? 'all')}`;

const siblingOf = (id: string, by: number): string | null => {
  const list = cameraList.peek();
  const at = list.findIndex((each) => each.id === id);
  return list[(at + by + list.length) % list.length]?.id ?? null;
};

const openSibling = (id: string, by: number): void => {
  const to = siblingOf(id, by);
  if (to !== null && to !== id)
    navigate(`/camera/${encodeURIComponent(to)}${location.search}`, { isReplaced: true });
};

/** Sound goes by the socket where its codec plays, else with the pictures by another way. */
const useSound = (cameraId: string) => {
  const [isOn, setIsOn] = useState(false);
  const { sound } = livePlayer();
  useEffect(() => {
    setIsOn(false);
    return () => sound.end();
  }, [cameraId]);
  const isRefused = isOn && sound.state.value === 'unsupported';
  const toggle = (): void => {
    if (isOn) sound.end();
    else sound.begin();
    setIsOn(!isOn);
  };
  return { isOn, isRefused, toggle };
};

const useDarkPage = (): void =>
  useEffect(() => {
    isPageDark.value = true;
    return () => {
      isPageDark.value = false;
    };
  }, []);

/** Loaded behind the picture, which nobody waits for it with. */
const useLater = <Props,>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> | null => {
  const [loaded, setLoaded] = useState<{ readonly Part: FunctionComponent<Props> } | null>(null);
  useEffect(() => {
    load().then(
      (Part) => setLoaded({ Part }),
      () => {},
    );
  }, []);
  return loaded?.Part ?? null;
};

const Strip = (given: { readonly id: string; readonly name: string }) => {
  const Part = useLater(async () => (await import('./day-strip.js')).DayStrip);
  return (
    <section class={styles.strip} aria-label={cameraText('strip')}>
      {Part === null ? null : <Part {...given} />}
    </section>
  );
};

const Panel = (given: { readonly tile: LiveTile | null }) => {
  const Part = useLater(async () => (await import('./model-panel.js')).ModelPanel);
  return Part === null ? null : <Part {...given} />;
};

/** Whether what moves it is shown; null: it can't be moved, or not by this user. */
const useMoving = ({ ptz }: Camera) => {
  const [isOpen, setIsOpen] = useState(false);
  const mayMove = ptz && may('ptz.control');
  const toggle = (): void => setIsOpen(!isOpen);
  const shortcuts = mayMove ? [{ keys: ['p'], does: moveText('open'), run: toggle }] : [];
  return { isOpen: mayMove ? isOpen : null, toggle, shortcuts };
};

const Single = ({ camera }: { readonly camera: Camera }) => {
  const section = useRef<HTMLElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const picture = useRef<HTMLDivElement>(null);
  const [rung, setRung] = useState<Rung | null>(null);
  const [hasFigures, setHasFigures] = useState(false);
  const moving = useMoving(camera);
  const [problem, setProblem] = useState<Problem | null>(null);
  const sound = useSound(camera.id);
  const model = may('models.list') ? query.value.get('model') : null;
  const fullScreen = useFullScreen(section);
  const tile = useLiveTile(camera.id, {
    ...{
      stream: 'main',
      importance: 1_000,
      isFullSize: true,
      isPaced: true,
      // Boxes of a model that runs here take their place.
      hasDetections: model === null && camera.detect && preferences.value.hidesDetections !== true,
      hasSound: sound.isOn,
    },
    rung: rung ?? (sound.isRefused ? 'whep' : null),
  });
  const { zoom, by, reset } = useZoom(frame, (step) => openSibling(camera.id, step));
  useDarkPage();
  useEffect(() => {
    const element = picture.current;
    if (element !== null)
      element.style.transform = `translate(${zoom.x}px, ${zoom.y}px) scale(${zoom.factor})`;
  }, [zoom, tile]);
  useEffect(reset, [camera.id]);
  const snapshot = (): void => {
    setProblem(null);
    keepPicture(camera.id).catch((fault: unknown) => setProblem(asProblem(fault)));
  };
  useShortcuts({
    title: cameraText('keys'),
    shortcuts: [
      { keys: ['+', '='], does: cameraText('keyZoom'), run: () => by(ZOOM_STEP) },
      { keys: ['-'], does: cameraText('keyZoom'), run: () => by(1 / ZOOM_STEP) },
      { keys: ['0'], does: cameraText('keyWhole'), run: reset },
      { keys: ['ArrowLeft'], does: cameraText('keySiblings'), run: () => openSibling(camera.id, -1) },
      { keys: ['ArrowRight'], does: cameraText('keySiblings'), run: () => openSibling(camera.id, 1) },
      { keys: ['Escape'], does: cameraText('keyBack'), run: () => navigate(wallPath()) },
      { keys: ['a'], does: cameraText('soundOn'), run: sound.toggle },
      { keys: ['s'], does: cameraText('snapshot'), run: snapshot },
      { keys: ['d'], does: wallText('keyDetections'), run: toggleDetections },
      { keys: ['q'], does: cameraText('stats'), run: () => setHasFigures(!hasFigures) },
      ...moving.shortcuts,
      { keys: ['f'], does: wallText('keyFull'), run: fullScreen.toggle },
    ],
  });
  const name = nameOf(camera);
  const view = tile?.view.value;
  return (
    <FullPage element={section} label={name}>
      <FullPageBar>
        <Button icon="grid" kind="quiet" label={cameraText('toWall')} onClick={() => navigate(wallPath())} />
        <Button
          icon="left"
          kind="quiet"
          label={cameraText('previous')}
          onClick={() => openSibling(camera.id, -1)}
        />
        <h1 class={styles.title}>{name}</h1>
        <Button
          icon="right"
          kind="quiet"
          label={cameraText('next')}
          onClick={() => openSibling(camera.id, 1)}
        />
        <BarSpace />
        <Controls
          camera={camera}
          tile={tile}
          hasSound={sound.isOn}
          soundHint={camera.audio_codec === '' ? cameraText('noSound') : undefined}
          isShowingFigures={hasFigures}
          rung={rung}
          isMoving={moving.isOpen}
          onMove={moving.toggle}
          onSound={sound.toggle}
          onSnapshot={snapshot}
          onFigures={() => setHasFigures(!hasFigures)}
          onRung={setRung}
        />
        {fullScreen.mayBe ? (
          <Button
            icon={fullScreen.isOn ? 'minimize' : 'maximize'}
            kind="quiet"
            label={wallText(fullScreen.isOn ? 'fullScreenEnd' : 'fullScreen')}
            onClick={fullScreen.toggle}
          />
        ) : null}
      </FullPageBar>
      {problem === null ? null : (
        <ProblemBox what={cameraText('snapshotFailed')} problem={problem} onRetry={snapshot} />
      )}
      <div class={styles.stage}>
        <div ref={frame} class={styles.frame} data-camera={camera.id} data-over-video>
          <div
            ref={picture}
            class={styles.picture}
            role="img"
            aria-label={wallText('tile', {
              name,
              state: view === undefined ? wallText('waiting') : tileStateText(camera, view),
            })}
          >
            {tile === null ? null : <LivePicture tile={tile} camera={camera} />}
          </div>
          <div class={styles.overlay}>
            {tile === null ? null : <TileBadges tile={tile} camera={camera} isInTabOrder />}
            {zoom.factor > 1 ? (
              <Button onClick={reset}>{cameraText('zoom', { factor: zoom.factor.toFixed(1) })}</Button>
            ) : null}
          </div>
          {moving.isOpen === true ? <MovePanel id={camera.id} /> : null}
          {hasFigures && tile !== null ? <Figures tile={tile} camera={camera} /> : null}
        </div>
        {model === null ? null : <Panel tile={tile} />}
      </div>
      {may('archive.read') ? <Strip id={camera.id} name={name} /> : null}
    </FullPage>
  );
};

/** One camera, as sharp as it is. */
export const page = ({ rest }: PageProps) => {
  const id = rest[0] ?? '';
  if (cameras.value === null)
    return (
      <UntilKnown what={shellText('camerasFailed')} problem={camerasProblem.value} onRetry={loadCameras} />
    );
  const camera = cameras.value.get(id);
  if (camera === undefined)
    return (
      <EmptyState icon="cctv" text={cameraText('missing', { id })}>
        <LinkButton href="/wall">{cameraText('toWall')}</LinkButton>
      </EmptyState>
    );
  return <Single key={camera.id} camera={camera} />;
};
