import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '@cpg/ports';
import pg from 'pg';
import { startPostgres } from './server.ts';

describe('a data folder', () => {
  let base: string;
  let dataDir: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'embedded-postgres-')); // only its owner may enter it
    dataDir = join(base, 'postgres');
  });
  afterEach(() => rmSync(base, { recursive: true }));

  const start = async () => startPostgres({ dataDir, port: await freePort(), password: 'secret' });
  const write = (path: string, text = 'mine') => {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  };

  test('is initialised again after a killed initialisation, written durably, and read where its settings send the log to files', async () => {
    write('postgres.new/cluster/PG_VERSION', '18\n');
    write('postgres.new/cluster/base/1/112', '');
    write('postgres.new/password', 'old\n');
    const server = await start();
    expect(readdirSync(base)).toEqual(['postgres']);
    if (process.getuid?.() === 0) expect(capabilitiesOf(server.process.pid!)).toEqual(READ_AND_SEARCH_ONLY);
    await server.stop();

    appendFileSync(join(dataDir, 'postgresql.conf'), 'logging_collector = on\n');
    const again = await start();
    const client = new pg.Client({ connectionString: again.url('postgres') });
    await client.connect();
    const durable = "select name from pg_settings where name in ('fsync', 'synchronous_commit') and setting = 'on'";
    expect((await client.query(durable)).rowCount).toBe(2);
    await client.end();
    await again.stop();
  });

  test('with files but without PG_VERSION is refused and left as it is', async () => {
    write('postgres/base/1/112', 'rows');
    await expect(start()).rejects.toThrow(/postgres has files, but no PG_VERSION: .* Nothing was deleted/);
    expect(readFileSync(join(dataDir, 'base/1/112'), 'utf8')).toBe('rows');
  });

  test.each(['letter.txt', 'PG_VERSION', 'cluster/postmaster.opts'])(
    'is not initialised where its temporary folder has a file that is not of an initialisation: %s',
    async (file) => {
      write('postgres.new/PG_VERSION', '18\n');
      write(`postgres.new/${file}`);
      await expect(start()).rejects.toThrow(/postgres\.new, but that folder has ".*", .*Nothing was deleted/);
      expect(readFileSync(join(base, 'postgres.new', file), 'utf8')).toBe('mine');
    },
  );

  test('that is a link to nothing is refused', async () => {
    symlinkSync(join(base, 'not-mounted'), dataDir);
    await expect(start()).rejects.toThrow(/is a link to a folder that does not exist/);
    expect(readdirSync(base)).toEqual(['postgres']);
  });
});

// Capability 2 is CAP_DAC_READ_SEARCH.
const READ_AND_SEARCH_ONLY = { CapPrm: 4n, CapEff: 4n, CapBnd: 4n, CapAmb: 4n, NoNewPrivs: 1n };

const capabilitiesOf = (pid: number): Record<string, bigint> => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const value = (name: string) => BigInt(`0x${new RegExp(`^${name}:\\s*(\\w+)$`, 'm').exec(status)![1]}`);
  return Object.fromEntries(Object.keys(READ_AND_SEARCH_ONLY).map((name) => [name, value(name)]));
};
