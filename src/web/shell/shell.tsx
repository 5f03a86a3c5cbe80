import { useEffect, useRef, useState } from 'preact/hooks';
import { navigate, path } from '../data/route.js';
import { may, me } from '../data/session.js';
import { tabStorage } from '../data/storage.js';
import { wrongByMinutes } from '../data/wrong-clock.js';
import { wrongClockText } from '../pages/me/wrong-clock-text.js';
import { type Page, pages } from '../pages/table.js';
import { LinkButton } from '../parts/button.js';
import { ConfirmHost } from '../parts/confirm.js';
import { Icon } from '../parts/icon.js';
import { Banner, EmptyState } from '../parts/states.js';
import { Toasts, toast } from '../parts/toasts.js';
import { useShortcuts } from '../parts/use-shortcuts.js';
import { shellText } from '../text/shell.js';
import { KeyHelp } from './key-help.js';
import { Offline } from './offline.js';
import { PageFrame } from './page-frame.js';
import styles from './shell.module.css';

const mayOpen = ({ needs, isOffered = () => true }: Page): boolean =>
  (needs === null || may(needs)) && isOffered();

/** An address that somebody typed or cut off may be no encoding of anything: it is taken as it is. */
const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** The page that the path names, if the user may see it; without a name the first one. */
const pageAt = (pathname: string): { page: Page | null; rest: string[] } => {
  const [name = '', ...rest] = pathname.slice(1).split('/').map(decoded);
  const open = pages.filter(mayOpen);
  return { page: (name === '' ? open[0] : open.find((page) => page.name === name)) ?? null, rest };
};

const NavLink = ({ page, isCurrent }: { readonly page: Page; readonly isCurrent: boolean }) => (
  <a
    class={`${styles.link} ${page.place === 'rail' ? styles.railOnly : ''}`}
    href={`/${page.name}`}
    aria-current={isCurrent ? 'page' : undefined}
  >
    <Icon name={page.icon} />
    <span>{page.title()}</span>
  </a>
);

/** A page's own field to find something in: the one that says it is. */
const focusFind = (): void =>
  document.querySelector<HTMLElement>('main input[type=search]:not(:disabled)')?.focus();

const useShellKeys = (showHelp: () => void): void =>
  useShortcuts({
    title: shellText('everywhere'),
    shortcuts: [
      { keys: ['?'], does: shellText('showKeys'), run: showHelp },
      { keys: ['/'], does: shellText('find'), run: focusFind },
    ],
  });

/** Who was shown the first steps in this tab, and leaves them, is only reminded. */
const LED = 'led-to-setup';

/** A printed password is led to be changed at once, and pointed at for as long as it is the one. */
const PrintedPassword = ({ pageName }: { readonly pageName: string }) => {
  const { must_change_password: isPrinted = false, username = '' } = me.value ?? {};
  useEffect(() => {
    if (!isPrinted || tabStorage.get(LED) === username || !may('settings.manage')) return;
    tabStorage.set(LED, username);
    navigate('/setup', { isReplaced: true });
  }, [isPrinted, username]);
  if (!isPrinted || pageName === 'setup') return null;
  return (
    <Banner
      tone="warn"
      icon="key"
      action={
        <LinkButton href={may('settings.manage') ? '/setup' : '/me'}>{shellText('changeIt')}</LinkButton>
      }
    >
      {shellText('printedPassword')}
    </Banner>
  );
};

/** Who was told in this tab that this machine's clock is wrong. */
const CLOCK_TOLD = 'told-of-clock';

/** Nothing here goes by it: that it is so is told once, and on the page of the user for as long as it is. */
const useWrongClock = (): void => {
  const minutes = wrongByMinutes.value;
  useEffect(() => {
    if (minutes === 0 || tabStorage.get(CLOCK_TOLD) !== null) return;
    tabStorage.set(CLOCK_TOLD, 'yes');
    toast({ text: wrongClockText(minutes) });
  }, [minutes === 0]);
};

/** Rail, or bar on phones, beside the page. */
export const Shell = () => {
  const { page, rest } = pageAt(path.value);
  const [isMoreOpen, setIsMoreOpen] = useState(false);
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  useShellKeys(() => setIsHelpOpen(true));
  useWrongClock();
  useEffect(() => setIsMoreOpen(false), [path.value]);
  useEffect(() => {
    document.title = page === null ? 'Framering' : `${page.title()} – Framering`;
  }, [page]);
  const main = useRef<HTMLElement>(null);
  const shownPage = useRef(page);
  useEffect(() => {
    // Who reads by ear is told of another page by being led to it.
    if (shownPage.current !== page) main.current?.focus({ preventScroll: true });
    shownPage.current = page;
  }, [page]);
  const shown = pages.filter((each) => each.place !== 'none' && mayOpen(each));
  return (
    <div class={styles.shell}>
      <a class={styles.skip} href="#content">
        {shellText('skip')}
      </a>
      <nav class={`${styles.nav} ${isMoreOpen ? styles.open : ''}`} aria-label={shellText('navigation')}>
        {shown.map((each) => (
          <NavLink key={each.name} page={each} isCurrent={each === page} />
        ))}
        {shown.some(({ place }) => place === 'rail') ? (
          <button
            type="button"
            class={`${styles.link} ${styles.more}`}
            aria-expanded={isMoreOpen}
            onClick={() => setIsMoreOpen(!isMoreOpen)}
          >
            <Icon name="more" />
            <span>{shellText('more')}</span>
          </button>
        ) : null}
      </nav>
      <main ref={main} class={styles.main} id="content" tabIndex={-1}>
        <Offline />
        <PrintedPassword pageName={page?.name ?? ''} />
        <div class={styles.content}>
          {page === null ? (
            <EmptyState icon="search" text={shellText('notFound')}>
              <LinkButton href="/">{shellText('toStart')}</LinkButton>
            </EmptyState>
          ) : (
            <PageFrame page={page} rest={rest} />
          )}
        </div>
      </main>
      {isHelpOpen ? <KeyHelp onClose={() => setIsHelpOpen(false)} /> : null}
      <ConfirmHost />
      <Toasts />
    </div>
  );
};
