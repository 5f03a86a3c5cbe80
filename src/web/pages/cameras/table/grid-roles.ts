/**
 * The roles of a table whose rows are placed by hand: `<table>` would measure all rows to know the width of a column. The
 * grid alone has the focus, and names its active row.
 */
export const rowGroup = { role: 'rowgroup' } as const;
export const row = { role: 'row' } as const;
export const cell = { role: 'gridcell' } as const;
export const columnHead = { role: 'columnheader' } as const;
