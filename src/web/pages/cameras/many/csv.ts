/** One record, and the line that it begins at, from 1. */
export type CsvRecord = {
  readonly line: number;
  readonly cells: readonly string[];
  readonly isWhole: boolean;
};

export type Delimiter = ',' | ';' | '\t';

/** Reads records as spreadsheets write them (RFC 4180), with quotes, and line ends within these. Empty lines are none. */
export const readCsv = (text: string, delimiter: Delimiter, maxRecords: number): CsvRecord[] => {
  const records: CsvRecord[] = [];
  let cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  let [line, beganAt] = [1, 1];
  const end = (isWhole = true): void => {
    cells.push(cell.trim());
    if (cells.length > 1 || cells[0] !== '') records.push({ line: beganAt, cells, isWhole });
    cells = [];
    cell = '';
    beganAt = line;
  };
  for (let at = 0; at < text.length && records.length < maxRecords; at++) {
    const char = text[at] as string;
    if (char === '\n') line++;
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text[at + 1] === '"') cell += text[++at];
      else isQuoted = false;
    } else if (char === '"' && cell.trim() === '') {
      cell = '';
      isQuoted = true;
    } else if (char === delimiter) {
      cells.push(cell.trim());
      cell = '';
    } else if (char === '\n') end();
    else cell += char;
  }
  if (records.length < maxRecords) end(!isQuoted);
  return records;
};
