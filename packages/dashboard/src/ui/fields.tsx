import { Button, Group, PasswordInput, type PasswordInputProps, Text, TextInput } from '@mantine/core';
import { t } from '../texts/index.ts';

/** A password that a user chooses. The gateway says what is wrong with it. */
export const NewPassword = (props: PasswordInputProps) => (
  <PasswordInput
    label={t.identity.newPassword}
    description={t.identity.newPasswordNote}
    autoComplete="new-password"
    required
    withAsterisk={false}
    {...props}
  />
);

interface MinutesProps {
  readonly value: string;
  readonly onChange: (minutes: string) => void;
}

/** A whole number of minutes, as typed, in a dialog. */
export const Minutes = ({ value, onChange }: MinutesProps) => (
  <TextInput
    label={t.orders.actions.minutes}
    inputMode="numeric"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    data-autofocus
  />
);

/** Whether the text is a number of minutes above zero. */
export const isMinutes = (text: string): boolean => /^[1-9]\d*$/.test(text);

interface SaveRowProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly done: string;
}

/** The button of a form, and beside it that the change was made. */
export const SaveRow = ({ label, isPending, done }: SaveRowProps) => (
  <Group>
    <Button type="submit" loading={isPending}>
      {label}
    </Button>
    <Text size="sm" role="status">
      {done}
    </Text>
  </Group>
);
