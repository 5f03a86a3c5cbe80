import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { cameraList, cameras, camerasProblem, folders, loadCameras, tags } from '../../data/cameras.js';
import { layouts, layoutsProblem, loadLayouts, watchLayouts } from '../../data/layouts.js';
import { preferences, setPreferences, toggleDetections } from '../../data/preferences.js';
import { navigate, query, setQuery } from '../../data/route.js';
import { may } from '../../data/session.js';
import { isPageDark } from '../../data/theme.js';
import { LinkButton } from '../../parts/button.js';
import { FullPage } from '../../parts/full-page.js';
import { EmptyState } from '../../parts/states.js';
import { UntilKnown } from '../../parts/until-known.js';
import { useShortcuts } from '../../parts/use-shortcuts.js';
import { shellText } from '../../text/shell.js';
import { wallText } from '../../text/wall.js';
import type { PageProps } from '../table.js';
import { Banners } from './banners.js';
import { useFullScreen } from './full-screen.js';
import { useTour } from './moving.js';
import { formOf, grids, isGrid, pagesOf, slotsOf, suggestedGrid, withoutEmptyRows } from './slots.js';
import { TileGrid } from './tile-grid.js';
import { Toolbar } from './toolbar.js';
import { type WallChoice, wallOf } from './wall-choice.js';

/** The wall that the address names; without a name the one that was shown last. */
const useWall = (rest: readonly string[]): WallChoice | null => {
  const name = rest[0] ?? preferences.value.lastWall ?? 'all';
  useEffect(() => {
    if (rest[0] !== undefined && preferences.peek().lastWall !== rest[0])
      void setPreferences({ lastWall: rest[0] }).catch(() => {});
  }, [rest[0]]);
  return wallOf(name, {
    cameras: cameraList.value,
    folders: folders.value,
    tags: tags.value,
    layouts: layouts.value,
  });
};

const Nothing = ({ isAll }: { readonly isAll: boolean }) => (
  <EmptyState icon="cctv" text={wallText(isAll ? 'noCameras' : 'noneHere')}>
    {isAll && may('cameras.edit') ? (
      <LinkButton kind="primary" href="/cameras">
        {wallText('addCameras')}
      </LinkButton>
    ) : null}
  </EmptyState>
);

/** Live pictures of many cameras. */
export const page = ({ rest }: PageProps) => {
  const section = useRef<HTMLElement>(null);
  const isEditing = useSignal(false);
  const fullScreen = useFullScreen(section);
  const wall = useWall(rest);
  useEffect(() => watchLayouts(), []);
  useEffect(() => {
    isPageDark.value = true;
    return () => {
      isPageDark.value = false;
    };
  }, []);
  const asked = query.value.get('grid');
  const grid = isGrid(asked) ? asked : (wall?.grid ?? suggestedGrid(wall?.cameraIds.length ?? 1));
  const pages = pagesOf(wall?.cameraIds.length ?? 0, grid);
  const pageNumber = Math.min(pages, Math.max(1, Number(query.value.get('page')) || 1));
  useShortcuts({
    title: wallText('keys'),
    shortcuts: [
      {
        keys: ['1', '2', '3', '4', '5', '6', '7', '8'],
        does: wallText('keyGrid'),
        run: ({ key }) => setQuery({ grid: grids[Number(key) - 1] ?? null, page: null }),
      },
      { keys: ['f'], does: wallText('keyFull'), run: fullScreen.toggle },
      { keys: ['d'], does: wallText('keyDetections'), run: toggleDetections },
      { keys: ['PageDown'], does: wallText('pageNext'), run: () => turn(1) },
      { keys: ['PageUp'], does: wallText('pagePrevious'), run: () => turn(-1) },
    ],
  });
  const turn = (by: number): void => {
    const to = Math.min(pages, Math.max(1, pageNumber + by));
    setQuery({ page: to === 1 ? null : String(to) }, { isReplaced: true });
  };
  useTour(pages > 1 && !isEditing.value, () => {
    const to = (pageNumber % pages) + 1;
    setQuery({ page: to === 1 ? null : String(to) }, { isReplaced: true });
  });
  if (cameras.value === null)
    return (
      <UntilKnown what={shellText('camerasFailed')} problem={camerasProblem.value} onRetry={loadCameras} />
    );
  if (wall === null)
    return (
      <UntilKnown what={wallText('layoutsFailed')} problem={layoutsProblem.value} onRetry={loadLayouts} />
    );
  const all = slotsOf(wall.cameraIds, grid, pageNumber);
  const slots = wall.layout === null ? withoutEmptyRows(all, grid) : all;
  return (
    <FullPage element={section} label={wallText('wall')}>
      <Toolbar
        wall={wall}
        grid={grid}
        page={pageNumber}
        pages={pages}
        slots={slots}
        isEditing={isEditing}
        fullScreen={fullScreen}
        onTurn={turn}
      />
      <Banners />
      {wall.cameraIds.length === 0 && wall.layout === null ? (
        <Nothing isAll={wall.name === 'all'} />
      ) : (
        <TileGrid
          key={`${wall.name} ${pageNumber}`}
          form={formOf(grid)}
          grid={grid}
          slots={slots}
          layout={wall.layout}
          isEditing={isEditing.value}
          onOpen={(id) => navigate(`/camera/${encodeURIComponent(id)}`)}
        />
      )}
    </FullPage>
  );
};
