/*
 * dpngram_errcodes.h
 *	  The extension's own SQLSTATEs, class NG, in one place.
 */
#ifndef DPNGRAM_ERRCODES_H
#define DPNGRAM_ERRCODES_H

#define ERRCODE_DP_BUDGET_EXHAUSTED MAKE_SQLSTATE('N', 'G', '0', '0', '1')
#define ERRCODE_DP_NOT_PROTECTED MAKE_SQLSTATE('N', 'G', '0', '0', '2')
#define ERRCODE_DP_NOT_GRANTED MAKE_SQLSTATE('N', 'G', '0', '0', '3')
#define ERRCODE_DP_WRONG_PRIVACY_UNIT MAKE_SQLSTATE('N', 'G', '0', '0', '4')
#define ERRCODE_DP_ARGUMENT MAKE_SQLSTATE('N', 'G', '0', '0', '5')
#define ERRCODE_DP_CHARGE_FAILED MAKE_SQLSTATE('N', 'G', '0', '0', '6')
#define ERRCODE_DP_SUSPENDED MAKE_SQLSTATE('N', 'G', '0', '0', '7')
#define ERRCODE_DP_READ_FAILED MAKE_SQLSTATE('N', 'G', '0', '0', '8')
#define ERRCODE_DP_UNCOMMITTED MAKE_SQLSTATE('N', 'G', '0', '0', '9')
#define ERRCODE_DP_COLUMN MAKE_SQLSTATE('N', 'G', '0', '1', '0')
#define ERRCODE_DP_ALREADY_PROTECTED MAKE_SQLSTATE('N', 'G', '0', '1', '1')
#define ERRCODE_DP_USER_COUNT MAKE_SQLSTATE('N', 'G', '0', '1', '2')

#endif /* DPNGRAM_ERRCODES_H */
