// The regions of a country: the six of the World Health Organization, and the sub-regions of the United Nations (M49).
// Covers all of ISO 3166-1; XA to XZ have no region.

/**
 * Member states, associate members, and the territories that a regional office of WHO lists. Indonesia has been in the
 * Western Pacific Region since May 2025. Places without residents or without a listing are left out.
 */
const WHO: Record<string, string> = {
  AFR: `DZ AO BJ BW BF BI CV CM CF TD KM CG CI CD GQ ER SZ ET GA GM GH GN GW KE LS LR MG MW ML MR MU MZ NA NE NG RW ST SN
    SC SL ZA SS TG UG TZ ZM ZW RE YT SH`,
  AMR: `AG AR BS BB BZ BO BR CA CL CO CR CU DM DO EC SV GD GT GY HT HN JM MX NI PA PY PE KN LC VC SR TT US UY VE
    PR AI AW BM BQ VG KY CW FK GF GP MQ MS BL MF PM SX TC VI`,
  EMR: 'AF BH DJ EG IR IQ JO KW LB LY MA OM PK QA SA SO SD SY TN AE YE PS',
  EUR: `AL AD AM AT AZ BY BE BA BG HR CY CZ DK EE FI FR GE DE GR HU IS IE IL IT KZ KG LV LT LU MT MC ME NL MK NO PL PT MD
    RO RU SM RS SK SI ES SE CH TJ TR TM UA GB UZ FO GI GL GG IM JE LI VA`,
  SEAR: 'BD BT KP IN MV MM NP LK TH TL',
  WPR: `AU BN KH CN CK FJ ID JP KI LA MY MH FM MN NR NZ NU PW PG PH KR WS SG SB TO TV VU VN
    HK MO AS PF GU NC MP PN TK WF`,
}

/** The intermediate region where M49 has one: Western Africa is more specific than Sub-Saharan Africa. */
const UN: Record<string, string> = {
  'Australia and New Zealand': 'AU CX CC HM NZ NF',
  Caribbean: 'AI AG AW BS BB BQ VG KY CU CW DM DO GD GP HT JM MQ MS PR BL KN LC MF VC SX TT TC VI',
  'Central America': 'BZ CR SV GT HN MX NI PA',
  'Central Asia': 'KZ KG TJ TM UZ',
  'Eastern Africa': 'IO BI KM DJ ER ET TF KE MG MW MU YT MZ RE RW SC SO SS UG TZ ZM ZW',
  'Eastern Asia': 'CN HK MO KP JP MN KR',
  'Eastern Europe': 'BY BG CZ HU PL MD RO RU SK UA',
  Melanesia: 'FJ NC PG SB VU',
  Micronesia: 'GU KI MH FM NR MP PW UM',
  'Middle Africa': 'AO CM CF TD CG CD GQ GA ST',
  'Northern Africa': 'DZ EG LY MA SD TN EH',
  'Northern America': 'BM CA GL PM US',
  'Northern Europe': 'AX DK EE FO FI GG IS IE IM JE LV LT NO SJ SE GB',
  Polynesia: 'AS CK PF NU PN WS TK TO TV WF',
  'South America': 'AR BO BV BR CL CO EC FK GF GY PY PE GS SR UY VE',
  'South-eastern Asia': 'BN KH ID LA MY MM PH SG TH TL VN',
  'Southern Africa': 'BW SZ LS NA ZA',
  'Southern Asia': 'AF BD BT IN IR MV NP PK LK',
  'Southern Europe': 'AL AD BA HR GI GR VA IT MT ME MK PT SM RS SI ES',
  'Western Africa': 'BJ BF CV CI GM GH GN GW LR ML MR NE NG SH SN SL TG',
  'Western Asia': 'AM AZ BH CY GE IQ IL JO KW LB OM QA SA PS SY TR AE YE',
  'Western Europe': 'AT BE FR DE LI LU MC NL CH',
}

const byCode = (regions: Record<string, string>) =>
  new Map(
    Object.entries(regions).flatMap(([region, codes]) => codes.split(/\s+/).map((code) => [code, region] as const)),
  )

const whoByCode = byCode(WHO)
const unByCode = byCode(UN)

export const WHO_REGIONS = Object.keys(WHO)
export const UN_REGIONS = Object.keys(UN)

export const whoRegionOf = (countryCode: string): string | null => whoByCode.get(countryCode) ?? null
export const unRegionOf = (countryCode: string): string | null => unByCode.get(countryCode) ?? null
