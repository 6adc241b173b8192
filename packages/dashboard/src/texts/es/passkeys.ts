import type { Texts } from '../en.ts';

export const passkeys: Texts['passkeys'] = {
  signIn: 'Entrar con una llave de acceso',
  title: 'Llaves de acceso',
  note: 'Una llave de acceso te deja entrar con tu huella, tu cara o el PIN de tu dispositivo, sin contraseña ni código. Una página falsa no puede usarla.',
  unavailable:
    'Este navegador no tiene llaves de acceso, o la página se abrió con una dirección IP: las llaves de acceso necesitan un nombre de host.',
  name: 'Nombre',
  nameNote: 'Para distinguir tus llaves de acceso, por ejemplo «Portátil».',
  add: 'Agregar una llave de acceso',
  added: 'Agregada',
  lastUsed: 'Último uso',
  never: 'Nunca',
  backedUp: 'Sincronizada',
  delete: 'Eliminar',
  deleteEffect: 'Ya no podrás entrar con esta llave de acceso. Elimínala también en tu dispositivo.',
  empty: 'Todavía no tienes llaves de acceso.',
};
