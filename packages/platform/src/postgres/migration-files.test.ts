import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const SERVICES = join(import.meta.dirname, '../../../../services');

test.each(readdirSync(SERVICES).filter((name) => existsSync(join(SERVICES, name, 'migrations'))))(
  'each migration of %s has a number of its own',
  (service) => {
    const numbers = readdirSync(join(SERVICES, service, 'migrations')).map((name) => name.slice(0, 3));
    expect(numbers).toEqual([...new Set(numbers)]);
  },
);
