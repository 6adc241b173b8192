import pg from 'pg';

// Fails a test in which a connection gets a query while it runs another one, which version 9 of `pg` refuses.
// Version 8 warns about the third such query only, once per process.
const overlaps: Error[] = [];

const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  if (!('_activeQuery' in this)) throw new Error('this version of pg has no _activeQuery: find the running query anew');
  const active = this._activeQuery as { readonly text?: string } | null;
  if (active)
    overlaps.push(new Error(`a query began on a connection that runs another one: await this first: ${active.text}`));
  return (query as (...all: unknown[]) => unknown).apply(this, args);
} as typeof query;

const refuseOverlaps = () => {
  const [first] = overlaps.splice(0);
  if (first) throw first;
};
afterEach(refuseOverlaps);
afterAll(refuseOverlaps);
