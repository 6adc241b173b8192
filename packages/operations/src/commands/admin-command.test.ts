import { VALUE_OPTIONS } from '../../../../scripts/admin-commands.mjs';
import { serviceCommands } from './admin-command.ts';

test('`npm run admin` knows every option with a value', () => {
  const never = () => {
    throw new Error('no command runs here');
  };
  const program = serviceCommands({
    service: 'orders',
    env: {},
    projectionOf: never,
    migrations: '',
    published: { topic: 'orders.v1', objectType: 'order' },
  });
  const options = program.commands.flatMap((noun) => noun.commands.flatMap((verb) => [...verb.options]));
  const withValue = options.filter(({ required, optional }) => required || optional);
  expect([...new Set(withValue.map(({ long }) => long))].sort()).toEqual(VALUE_OPTIONS.map((name) => `--${name}`));
});
