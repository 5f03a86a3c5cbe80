import { Component, type FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { outage } from '../data/connection.js';
import { asProblem, Problem } from '../data/problem.js';
import type { Page, PageProps } from '../pages/table.js';
import { ProblemBox } from '../parts/problem-box.js';
import { Skeleton } from '../parts/states.js';
import { shellText } from '../text/shell.js';
import styles from './shell.module.css';

/** What throws while it is drawn is told in its place. */
export class Guard extends Component<
  { readonly children: preact.ComponentChildren },
  { problem: Problem | null }
> {
  override state = { problem: null as Problem | null };

  static override getDerivedStateFromError(fault: unknown): { problem: Problem } {
    return { problem: asProblem(fault) };
  }

  override render() {
    const { problem } = this.state;
    if (problem === null) return this.props.children;
    return (
      <div class={styles.padded}>
        <ProblemBox
          what={shellText('thisPage')}
          problem={problem}
          onRetry={() => this.setState({ problem: null })}
        />
      </div>
    );
  }
}

const notLoaded = (): Problem => new Problem({ status: -1, code: 'page', detail: shellText('notLoaded') });

/** Loads a page's code, and shows it; what goes wrong in it leaves the rest of the app alone. */
export const PageFrame = ({ page, rest }: { readonly page: Page; readonly rest: readonly string[] }) => {
  const [loaded, setLoaded] = useState<{ of: Page; View: FunctionComponent<PageProps> } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setProblem(null);
    page
      .load()
      .then(({ page: View }) => isCurrent && setLoaded({ of: page, View }))
      .catch(() => isCurrent && setProblem(notLoaded()));
    return () => {
      isCurrent = false;
    };
  }, [page, tries]);
  if (problem !== null)
    return (
      <div class={styles.padded}>
        <ProblemBox
          what={page.title()}
          problem={problem}
          // Another version of the service has other files: the page must be read anew for them.
          onRetry={() => (outage.peek() === null ? location.reload() : setTries(tries + 1))}
        />
      </div>
    );
  if (loaded === null || loaded.of !== page)
    return (
      <div class={styles.none}>
        <Skeleton />
      </div>
    );
  return (
    <Guard key={page.name}>
      <loaded.View rest={rest} />
    </Guard>
  );
};
