import { isNow } from '../../../src/archive/offsite/copy-table.js';
import { Notes } from '../../../src/archive/offsite/notes.js';
import { manyCopies } from './made-copies.js';

/** Writes down one copy after another, and says how many there are, until it is killed. */
const notes = new Notes(process.argv[2]!, { nowMs: () => 0, leaveMs: 0 });
if (notes.read('door') === null) notes.replace('door', []);
const copies = manyCopies(20_000);
for (let count = notes.read('door')!.count; count < copies.length; count += 1) {
  notes.change('door', [isNow(copies[count]!)]);
  process.stdout.write(`${count + 1}\n`);
}
