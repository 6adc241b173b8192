// create table gateway_events (id text primary key);
// create table gateway_objects (id text primary key, sequence bigint not null, state jsonb not null);
// create table shipments (cart text primary key);

/** Stores an event and all that it changes, in one transaction: an event that comes twice changes nothing the second
 *  time, and one that fails comes again. `db` is a connection of `pg`. */
export async function store(db, event) {
  await db.query('begin');
  try {
    const sql = 'insert into gateway_events (id) values ($1) on conflict do nothing';
    const { rowCount } = await db.query(sql, [event.id]);
    if (rowCount === 1) await apply(db, event);
    await db.query('commit');
  } catch (error) {
    await db.query('rollback');
    throw error;
  }
}

async function apply(db, { event, data, sequence = 0 }) {
  // The order or payment as the event shows it, unless a newer event came first.
  await db.query(
    `insert into gateway_objects as known (id, sequence, state) values ($1, $2, $3)
     on conflict (id) do update set sequence = excluded.sequence, state = excluded.state
     where known.sequence < excluded.sequence`,
    [data.id, sequence, JSON.stringify(data)],
  );
  // An order becomes paid a second time when its money went away and came back: ship once.
  if (event === 'order:paid') {
    await db.query('insert into shipments (cart) values ($1) on conflict do nothing', [data.external_reference_id]);
  }
}
