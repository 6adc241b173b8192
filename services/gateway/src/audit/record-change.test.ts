import { changedFields } from './record-change.ts';

test('names the fields that differ, with both values', () => {
  const before = { label: null as string | null, scopes: ['a'], version: 1 };
  expect(changedFields(before, { label: 'Shop', scopes: ['a'], version: 2 }, ['label', 'scopes'])).toEqual({
    label: { before: null, after: 'Shop' },
  });
  expect(changedFields<{ label?: string }>({}, {}, ['label'])).toEqual({});
});

test('shows what is created, but for fields without a value', () => {
  expect(changedFields<{ role: string; label: null }>(null, { role: 'owner', label: null }, ['role', 'label'])).toEqual(
    {
      role: { before: null, after: 'owner' },
    },
  );
});

test('records that personal data changed, and not how', () => {
  expect(
    changedFields({ name: 'Ada', email: 'a@b.example' }, { name: 'Eve', email: 'a@b.example' }, ['name', 'email']),
  ).toEqual({
    name: {},
  });
});
