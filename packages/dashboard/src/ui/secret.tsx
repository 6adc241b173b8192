import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../texts/index.ts';
import { Copy } from './values.tsx';

interface ResultDialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** What an action brought. */
export const ResultDialog = ({ title, isOpen, onClose, children }: ResultDialogProps) => (
  <Modal opened={isOpen} onClose={onClose} title={title} centered closeButtonProps={{ 'aria-label': t.actions.close }}>
    {children}
  </Modal>
);

interface SecretProps {
  readonly title: string;
  readonly note?: string;
  /** Null while there is none. */
  readonly value: string | null;
  readonly onClose: () => void;
}

/** Shows a secret that no later answer contains. A click beside it does not close it. */
export const Secret = ({ title, note, value, onClose }: SecretProps) => (
  <Modal
    opened={value !== null}
    onClose={onClose}
    title={title}
    centered
    closeOnClickOutside={false}
    withCloseButton={false}
  >
    <Stack>
      <Alert color="yellow">{t.actions.onceOnly}</Alert>
      {note !== undefined && <Text size="sm">{note}</Text>}
      <Group wrap="nowrap" gap="xs">
        <code className="secret breaking">{value}</code>
        <Copy value={value ?? ''} />
      </Group>
      <Group justify="flex-end">
        <Button onClick={onClose}>{t.actions.storedIt}</Button>
      </Group>
    </Stack>
  </Modal>
);
