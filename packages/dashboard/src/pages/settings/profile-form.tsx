import { Group, Stack, TextInput } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import type { Merchant } from '@cpg/sdk';
import { useState } from 'react';
import { call, Failure } from '../../api.ts';
import { profileChange, type ProfileFields, profileFields } from '../../lib/profile.ts';
import { t } from '../../texts/index.ts';
import { useAction } from '../../ui/action.tsx';
import { SaveRow } from '../../ui/fields.tsx';
import { ActionFailed } from '../../ui/states.tsx';

/** Sends only the fields that somebody changed here. The names of the fields are those of the API. */
export const ProfileForm = ({ merchant }: { readonly merchant: Merchant }) => {
  const [saved, setSaved] = useState(() => profileFields(merchant));
  const [done, setDone] = useState('');
  const form = useForm<ProfileFields>({ initialValues: saved, onValuesChange: () => setDone('') });
  const save = useAction(async (fields: ProfileFields) => {
    const body = profileChange(saved, fields);
    if (body === null) return saved;
    try {
      return profileFields(await call<Merchant>('PATCH', '/v1/merchants/me', { body }));
    } catch (error) {
      if (error instanceof Failure)
        form.setErrors(Object.fromEntries(error.details.map(({ path, message }) => [path, message])));
      throw error;
    }
  });
  const submit = async (fields: ProfileFields) => {
    const answer = (await save.run(fields))?.answer;
    if (!answer) return;
    setSaved(answer);
    form.setValues(answer);
    setDone(t.actions.saved);
  };
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))} noValidate>
      <Stack maw={640}>
        {merchant.type === 'business' ? <Business form={form} /> : <Person form={form} />}
        {save.error !== null && <ActionFailed error={save.error} />}
        <SaveRow label={t.actions.save} isPending={save.isPending} done={done} />
      </Stack>
    </form>
  );
};

/** Two in a row, and one on phones. */
const HALF = '1 1 14rem';

interface FieldsProps {
  readonly form: UseFormReturnType<ProfileFields>;
}

const Person = ({ form }: FieldsProps) => {
  const names = t.settings.profile;
  return (
    <>
      <Group align="start">
        <TextInput
          label={names.firstName}
          flex={HALF}
          description={names.nameNote}
          {...form.getInputProps('individual_profile.first_name')}
        />
        <TextInput
          label={names.lastName}
          flex={HALF}
          description={names.nameNote}
          {...form.getInputProps('individual_profile.last_name')}
        />
      </Group>
      <TextInput
        label={names.email}
        description={names.contactNote}
        type="email"
        {...form.getInputProps('individual_profile.email')}
      />
      <TextInput label={names.phone} type="tel" {...form.getInputProps('individual_profile.phone')} />
    </>
  );
};

const Business = ({ form }: FieldsProps) => {
  const names = t.settings.profile;
  const addressField = (name: string) => form.getInputProps(`business_profile.address.${name}`);
  return (
    <>
      <TextInput
        label={names.name}
        description={names.nameNote}
        {...form.getInputProps('business_profile.business_name')}
      />
      <TextInput
        label={names.email}
        description={names.contactNote}
        type="email"
        {...form.getInputProps('business_profile.contact_email')}
      />
      <TextInput label={names.phone} type="tel" {...form.getInputProps('business_profile.contact_phone')} />
      <TextInput label={names.street} description={names.addressNote} {...addressField('street')} />
      <Group align="start">
        <TextInput label={names.city} flex={HALF} {...addressField('city')} />
        <TextInput label={names.state} flex={HALF} {...addressField('state')} />
        <TextInput label={names.postalCode} flex={HALF} {...addressField('postal_code')} />
        <TextInput label={names.country} flex={HALF} placeholder="MX" {...addressField('country')} />
      </Group>
    </>
  );
};
