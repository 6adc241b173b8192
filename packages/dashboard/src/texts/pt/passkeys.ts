import type { Texts } from '../en.ts';

export const passkeys: Texts['passkeys'] = {
  signIn: 'Entrar com uma chave de acesso',
  title: 'Chaves de acesso',
  note: 'Uma chave de acesso permite entrar com a digital, o rosto ou o PIN do dispositivo, sem senha nem código. Uma página falsa não consegue usá-la.',
  unavailable:
    'Este navegador não tem chaves de acesso, ou a página foi aberta por um endereço IP: chaves de acesso precisam de um nome de host.',
  name: 'Nome',
  nameNote: 'Para distinguir suas chaves de acesso, por exemplo “Notebook”.',
  add: 'Adicionar uma chave de acesso',
  added: 'Adicionada',
  lastUsed: 'Último uso',
  never: 'Nunca',
  backedUp: 'Sincronizada',
  delete: 'Excluir',
  deleteEffect: 'Esta chave de acesso não permitirá mais entrar. Exclua também no dispositivo.',
  empty: 'Você ainda não tem chaves de acesso.',
};
