import pg from 'pg';

test('the shared server answers and commits durably', async () => {
  const client = new pg.Client({ connectionString: process.env.POSTGRES_URL });
  await client.connect();
  const settings = await client.query('select name, setting from pg_settings where name in ($1, $2)', [
    'fsync',
    'synchronous_commit',
  ]);
  expect(settings.rows.map((row) => row.setting)).toEqual(['on', 'on']);
  await client.end();
});
