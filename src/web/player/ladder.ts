/** The ways in which a tile may get its pictures, the best one first. */
export const rungs = ['webcodecs', 'mse', 'whep', 'hls', 'stills'] as const;
export type Rung = (typeof rungs)[number];

/** Why a way can't be taken; the page says it in words. */
export type RungReason = 'insecure' | 'missing' | 'codec' | 'socket' | 'failed' | 'places';

/** What of each this browser, this page and this camera allow. */
export type LadderFacts = {
  readonly isSecure: boolean;
  readonly hasWebCodecs: boolean;
  readonly hasMse: boolean;
  readonly hasWebRtc: boolean;
  readonly hasHls: boolean;
  /** The wall's socket can't be opened here. */
  readonly isSocketBlocked: boolean;
  /** Ways that don't play this camera's codec, as far as that is known. */
  readonly refusedCodec: ReadonlySet<Rung>;
  /** Ways that failed a moment ago. */
  readonly failed: ReadonlySet<Rung>;
  /** Places that other tiles have taken. */
  readonly whepTaken: number;
  readonly hlsTaken: number;
};

const MAX_WHEP = 9;
/** A browser opens six connections to a host. */
const MAX_HLS = 3;

/** Why this way can't be taken now; null: it can. */
export const reasonAgainst = (rung: Rung, facts: LadderFacts): RungReason | null => {
  if (rung === 'stills') return null;
  if (rung === 'webcodecs' && !facts.hasWebCodecs) return facts.isSecure ? 'missing' : 'insecure';
  if (rung === 'mse' && !facts.hasMse) return 'missing';
  if (rung === 'whep' && !facts.hasWebRtc) return 'missing';
  if (rung === 'hls' && !facts.hasHls) return 'missing';
  if (facts.isSocketBlocked && (rung === 'webcodecs' || rung === 'mse')) return 'socket';
  if (facts.refusedCodec.has(rung)) return 'codec';
  if (facts.failed.has(rung)) return 'failed';
  if (rung === 'whep' && facts.whepTaken >= MAX_WHEP) return 'places';
  if (rung === 'hls' && facts.hlsTaken >= MAX_HLS) return 'places';
  return null;
};

/** The best way that can be taken, or the one that the user chose if that can. */
export const chooseRung = (facts: LadderFacts, chosen: Rung | null = null): Rung => {
  if (chosen !== null && reasonAgainst(chosen, facts) === null) return chosen;
  return rungs.find((rung) => reasonAgainst(rung, facts) === null) ?? 'stills';
};

const RETRY_AFTER_MS = 60_000;

/** Ways that failed are tried again after a minute. */
export class Failures {
  readonly #untilMs = new Map<Rung, number>();

  note(rung: Rung, nowMs: number): void {
    this.#untilMs.set(rung, nowMs + RETRY_AFTER_MS);
  }

  at(nowMs: number): ReadonlySet<Rung> {
    return new Set([...this.#untilMs].filter(([, untilMs]) => untilMs > nowMs).map(([rung]) => rung));
  }

  forget(): void {
    this.#untilMs.clear();
  }
}

/** Ways that don't play what a camera sends, for as long as it sends that. */
export class RefusedCodecs {
  readonly rungs = new Set<Rung>();
  /** The smaller stream plays here, and the larger one doesn't. */
  isSubOnly = false;
  #main = '';
  #sub = '';

  /** What the camera sends now; "": nobody knows, as of a smaller stream that nobody asked for yet. */
  look(main: string, sub: string): void {
    const isOther = (was: string, now: string): boolean => was !== '' && now !== '' && was !== now;
    if (isOther(this.#main, main) || isOther(this.#sub, sub)) this.forget();
    this.#main = main || this.#main;
    this.#sub = sub || this.#sub;
  }

  forget(): void {
    this.rungs.clear();
    this.isSubOnly = false;
  }
}

const REBUILDS = 3;
const REBUILDS_WITHIN_MS = 60_000;

/** A decoder that gives up gets a successor, three times a minute. */
export class Rebuilds {
  readonly #atMs: number[] = [];
  count = 0;

  /** What was before counts no more. */
  forget(): void {
    this.#atMs.length = 0;
  }

  /** False: too many by now; the tile goes one rung down. */
  mayRebuild(nowMs: number): boolean {
    while (this.#atMs.length > 0 && nowMs - (this.#atMs[0] ?? 0) > REBUILDS_WITHIN_MS) this.#atMs.shift();
    if (this.#atMs.length >= REBUILDS) return false;
    this.#atMs.push(nowMs);
    this.count += 1;
    return true;
  }
}
