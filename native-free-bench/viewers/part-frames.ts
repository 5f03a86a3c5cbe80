import { BoxCursor } from '../../src/fmp4/box-cursor.js';
import { FragmentReader } from '../../src/fmp4/fragment-reader.js';
import { readMovie } from '../../src/fmp4/movie-reader.js';
import { SampleColumns } from '../../src/fmp4/sample-columns.js';

/** Finds the frames in parts of fMP4 that begin with the same init segment, of the one track of a generated camera. */
export class PartFrames {
  readonly #columns = new SampleColumns();
  readonly #reader: FragmentReader;

  constructor(init: Buffer) {
    const box = new BoxCursor(init);
    if (!box.find('moov')) throw new Error('an init segment without a moov');
    this.#reader = new FragmentReader(readMovie(init, box.start, box.end), [this.#columns]);
  }

  /** Where each frame ends. */
  endsIn(part: Buffer): number[] {
    this.#columns.count = 0;
    const box = new BoxCursor(part);
    let moof: { offset: number; start: number; end: number } | null = null;
    let offset = 0;
    while (box.next()) {
      if (box.type === 'moof') moof = { offset, start: box.start, end: box.end };
      if (box.type === 'mdat' && moof !== null) {
        const place = { moofOffset: moof.offset, dataStart: box.start, dataEnd: box.end };
        if (!this.#reader.read(part, moof.start, moof.end, place)) throw new Error('a damaged part');
        moof = null;
      }
      offset = box.end;
    }
    const { count, offsetBytes, sizeBytes } = this.#columns;
    return Array.from({ length: count }, (_, index) => offsetBytes[index]! + sizeBytes[index]!);
  }
}
