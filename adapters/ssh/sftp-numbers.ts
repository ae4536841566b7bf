import ssh2 from 'ssh2'

/** The flags of OPEN and the codes of STATUS in SFTP. */
export const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp
