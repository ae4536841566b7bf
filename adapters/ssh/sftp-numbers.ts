import ssh2 from 'ssh2'

/** Flags of OPEN and codes of STATUS in SFTP. */
export const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp
