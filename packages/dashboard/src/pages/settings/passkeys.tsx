import { Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { call } from '../../api.ts';
import { useOnce } from '../../queries.ts';
import { t } from '../../texts/index.ts';
import { ConfirmButton, useAction } from '../../ui/action.tsx';
import { Section } from '../../ui/page.tsx';
import { addPasskey, canUsePasskeys, type NewPasskey } from '../../ui/passkeys.ts';
import { ActionFailed, Empty, Loaded } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table.tsx';
import { Time } from '../../ui/values.tsx';

interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly is_backed_up: boolean;
  readonly created_at: string;
  readonly last_used_at?: string;
}

const PATH = '/v1/account/passkeys';

/** The passkeys of the user: adds, lists and deletes them. */
export const Passkeys = () => {
  const passkeys = useOnce<{ readonly items: readonly Passkey[] }>(PATH);
  return (
    <Section title={t.passkeys.title} note={t.passkeys.note}>
      <Stack>
        <Loaded query={passkeys} rows={2}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty>{t.passkeys.empty}</Empty>
            ) : (
              <DataTable label={t.passkeys.title} columns={columns()} rows={items} />
            )
          }
        </Loaded>
        {canUsePasskeys() ? <AddPasskey /> : <Text size="sm">{t.passkeys.unavailable}</Text>}
      </Stack>
    </Section>
  );
};

const columns = (): Column<Passkey>[] => [
  {
    name: t.passkeys.name,
    cell: ({ name, is_backed_up }) => (
      <Group gap="xs">
        {name}
        {is_backed_up && (
          <Badge variant="light" color="gray" tt="none">
            {t.passkeys.backedUp}
          </Badge>
        )}
      </Group>
    ),
  },
  { name: t.passkeys.added, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    name: t.passkeys.lastUsed,
    cell: ({ last_used_at }) => (last_used_at === undefined ? t.passkeys.never : <Time at={last_used_at} />),
  },
  {
    name: t.passkeys.delete,
    cell: ({ id }) => (
      <ConfirmButton
        label={t.passkeys.delete}
        effect={t.passkeys.deleteEffect}
        color="red"
        onConfirm={() => call('DELETE', `${PATH}/${id}`)}
      />
    ),
  },
];

const AddPasskey = () => {
  const form = useForm<NewPasskey>({ initialValues: { name: '' } });
  const add = useAction(addPasskey);
  const submit = async ({ name }: NewPasskey) => {
    if (await add.run({ name: name.trim() })) form.reset();
  };
  return (
    <form onSubmit={form.onSubmit((values) => void submit(values))}>
      <Stack gap="sm">
        <Group align="end">
          <TextInput
            label={t.passkeys.name}
            description={t.passkeys.nameNote}
            maxLength={100}
            required
            withAsterisk={false}
            {...form.getInputProps('name')}
          />
          <Button type="submit" variant="default" loading={add.isPending}>
            {t.passkeys.add}
          </Button>
        </Group>
        {add.error !== null && <ActionFailed error={add.error} />}
      </Stack>
    </form>
  );
};
