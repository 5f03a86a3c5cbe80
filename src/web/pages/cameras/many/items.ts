import type { NewCamera } from '../../../data/types.js';

/** What stands in the way; the page has a sentence for each. */
export type LineFault = {
  readonly code:
    | 'no_address'
    | 'bad_address'
    | 'too_long'
    | 'bad_range'
    | 'too_many_lines'
    | 'too_many_cameras'
    | 'too_much_text'
    | 'twice'
    | 'bad_id'
    | 'id_taken'
    | 'unknown_column'
    | 'column_twice'
    | 'too_many_cells'
    | 'open_quote'
    | 'bad_value'
    | 'unknown_folder'
    | 'unknown_tag';
  /** What it is about, or which line. */
  readonly about: string;
};

/** A camera that is to be added, or why it can't be. */
export type Item = {
  /** The address as the line has it: what is mended, or left out, is known by it. */
  readonly source: string;
  /** The same of the smaller stream; "": the line names none. */
  readonly subSource: string;
  /** In the text, from 1. */
  readonly line: number;
  /** Between `line`s of the same number, from 0. */
  readonly nth: number;
  readonly camera: NewCamera;
  /** Whether nobody chose the id. */
  readonly isIdOurs: boolean;
  readonly faults: readonly LineFault[];
  /** The camera that has the same address already; "": none. */
  readonly sameAs: string;
};

export type Parsed = {
  readonly items: readonly Item[];
  /** Of lines that no camera came of. */
  readonly faults: readonly { readonly line: number; readonly fault: LineFault }[];
};

/** What is there already. */
export type Known = {
  readonly cameras: Iterable<{ readonly id: string; readonly url: string }>;
  readonly folders: readonly { readonly id: string; readonly name: string }[];
  readonly tags: readonly { readonly id: string; readonly name: string }[];
};

/** What a line says of a camera, before ids are given. */
export type RawItem = {
  readonly line: number;
  readonly source: string;
  readonly subSource: string;
  /** Mended, where it was. */
  readonly url: string;
  /** Chosen by whoever wrote the line; "": left to us. */
  readonly id: string;
  /** What an id of ours is made of. */
  readonly idWish: string;
  readonly settings: Partial<NewCamera>;
  readonly faults: readonly LineFault[];
};

/** What holds for all lines that don't say it themselves. */
export type Common = {
  /** Begins ids of ours. */
  readonly prefix: string;
  /** For addresses that name nobody. */
  readonly user: string;
  readonly password: string;
  /** Addresses that were mended, by what stands in the text. */
  readonly mended: ReadonlyMap<string, string>;
};

export type Raw = { readonly items: RawItem[]; readonly faults: Parsed['faults'][number][] };
