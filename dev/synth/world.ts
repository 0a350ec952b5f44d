// The data for synthetic outbreaks: real pathogens and countries, invented place names and remarks.
// Only facts, nothing random. A code that is not certain is null, never a guess.
import { iso31662 } from 'iso-3166'

export interface Pathogen {
  /** The label in the name of an event. */
  readonly label: string
  readonly name: string
  readonly taxonId: number | null
  readonly disease: string | null
  readonly icd11: string | null
  /** Deaths per case. */
  readonly fatality: number
  /** Binary logarithm of the largest outbreak. */
  readonly magnitude: number
  readonly hosts: readonly ('human' | 'animal' | null)[]
}

export interface Country {
  readonly code: string
  readonly name: string
  readonly latitude: number
  readonly longitude: number
  readonly subdivisions: readonly { readonly code: string; readonly name: string }[]
}

const pathogen = (
  label: string,
  name: string,
  taxonId: number | null,
  disease: string | null,
  icd11: string | null,
  fatality: number,
  magnitude: number,
  hosts: Pathogen['hosts'] = ['human'],
): Pathogen => ({ label, name, taxonId, disease, icd11, fatality, magnitude, hosts })

export const pathogens: readonly Pathogen[] = [
  pathogen('Cholera', 'Vibrio cholerae', 666, 'Cholera', '1A00', 0.02, 16),
  pathogen('Plague', 'Yersinia pestis', 632, 'Plague', '1B93', 0.1, 11),
  pathogen('Anthrax', 'Bacillus anthracis', 1392, 'Anthrax', null, 0.05, 9, ['human', 'animal', null]),
  pathogen('Meningitis', 'Neisseria meningitidis', 487, 'Meningococcal disease', null, 0.1, 14),
  pathogen('Pertussis', 'Bordetella pertussis', 520, 'Pertussis', null, 0.005, 14),
  pathogen('Diphtheria', 'Corynebacterium diphtheriae', 1717, 'Diphtheria', null, 0.07, 13),
  pathogen('Typhoid', 'Salmonella enterica serovar Typhi', 90370, 'Typhoid fever', '1A07', 0.01, 14),
  pathogen('Tuberculosis', 'Mycobacterium tuberculosis', 1773, 'Tuberculosis', null, 0.1, 13),
  pathogen('Legionellosis', 'Legionella pneumophila', 446, "Legionnaires' disease", null, 0.08, 9),
  pathogen('Listeriosis', 'Listeria monocytogenes', 1639, 'Listeriosis', null, 0.2, 9),
  pathogen('EHEC', 'Escherichia coli O157:H7', 83334, 'Haemorrhagic colitis', null, 0.01, 10),
  pathogen('Shigellosis', 'Shigella dysenteriae', 622, 'Shigellosis', null, 0.03, 13),
  pathogen('Leptospirosis', 'Leptospira interrogans', 173, 'Leptospirosis', null, 0.06, 11),
  pathogen('QFever', 'Coxiella burnetii', 777, 'Q fever', null, 0.01, 12, ['human', 'animal']),
  pathogen('Brucellosis', 'Brucella melitensis', 29459, 'Brucellosis', null, 0.01, 11, ['human', 'animal', 'human']),
  pathogen('Malaria', 'Plasmodium falciparum', 5833, 'Malaria', null, 0.01, 18),
  pathogen('MalariaVivax', 'Plasmodium vivax', 5855, 'Malaria', null, 0.001, 16),
  pathogen('KalaAzar', 'Leishmania donovani', 5661, 'Visceral leishmaniasis', null, 0.1, 12),
  pathogen('Covid19', 'Severe acute respiratory syndrome coronavirus 2', 2697049, 'COVID-19', 'RA01', 0.015, 20),
  pathogen('MERS', 'Middle East respiratory syndrome-related coronavirus', 1335626, 'MERS', null, 0.35, 10),
  pathogen('SARS', 'SARS-related coronavirus', 694009, 'SARS', null, 0.1, 12),
  pathogen('Ebola', 'Zaire ebolavirus', 186538, 'Ebola virus disease', null, 0.55, 14),
  pathogen('EbolaSudan', 'Sudan ebolavirus', 186540, 'Ebola virus disease', null, 0.5, 9),
  pathogen('Marburg', 'Marburg marburgvirus', 11269, 'Marburg virus disease', null, 0.7, 8),
  pathogen('Lassa', 'Lassa mammarenavirus', 11620, 'Lassa fever', null, 0.15, 11),
  pathogen('Nipah', 'Nipah henipavirus', 121791, 'Nipah virus infection', null, 0.7, 8),
  pathogen('CCHF', 'Crimean-Congo hemorrhagic fever virus', null, 'Crimean-Congo haemorrhagic fever', null, 0.2, 10),
  pathogen('Hantavirus', 'Andes virus', null, 'Hantavirus pulmonary syndrome', null, 0.35, 8),
  pathogen('RVF', 'Rift Valley fever virus', 11588, 'Rift Valley fever', null, 0.05, 12, ['human', 'animal']),
  pathogen('Dengue', 'Dengue virus', 12637, 'Dengue', null, 0.002, 19),
  pathogen('Zika', 'Zika virus', 64320, 'Zika virus disease', '1D48', 0.0002, 17),
  pathogen('Chikungunya', 'Chikungunya virus', 37124, 'Chikungunya', '1D40', 0.001, 17),
  pathogen('YellowFever', 'Yellow fever virus', 11089, 'Yellow fever', '1D47', 0.2, 12),
  pathogen('WestNile', 'West Nile virus', 11082, 'West Nile fever', null, 0.04, 12, ['human', 'human', 'animal']),
  pathogen('JE', 'Japanese encephalitis virus', 11072, 'Japanese encephalitis', null, 0.2, 11),
  pathogen('Oropouche', 'Oropouche virus', null, 'Oropouche fever', null, 0.0005, 13),
  pathogen('Measles', 'Measles morbillivirus', 11234, 'Measles', '1F03', 0.01, 16),
  pathogen('Rubella', 'Rubella virus', 11041, 'Rubella', null, 0.0001, 13),
  pathogen('Polio', 'Human poliovirus 1', 12080, 'Poliomyelitis', null, 0.05, 9),
  pathogen('Mpox', 'Monkeypox virus', 10244, 'Mpox', '1E71', 0.01, 14),
  pathogen('InfluenzaA', 'Influenza A virus', 11320, 'Influenza', null, 0.001, 18),
  pathogen('InfluenzaH5N1', 'Influenza A virus H5N1', 102793, 'Avian influenza', null, 0.5, 8, ['animal', 'human']),
  pathogen('HepatitisA', 'Hepatitis A virus', 12092, 'Hepatitis A', null, 0.003, 12),
  pathogen('HepatitisE', 'Hepatitis E virus', 12461, 'Hepatitis E', null, 0.015, 13),
  pathogen('Rabies', 'Rabies virus', 11292, 'Rabies', null, 1, 7, ['human', 'animal', 'animal']),
  pathogen('SwineFever', 'African swine fever virus', 10497, 'African swine fever', null, 0.9, 14, ['animal']),
  pathogen('FootAndMouth', 'Foot-and-mouth disease virus', 12110, 'Foot-and-mouth disease', null, 0.02, 15, ['animal']),
  pathogen('Undiagnosed', 'Unknown agent', null, null, null, 0.03, 9, ['human', null]),
]

/** Code, English name, latitude and longitude of a point in the middle. XA is a user-assigned code, here for ships. */
const countryList = `
AF Afghanistan 34 66; AL Albania 41 20; AO Angola -12 18; AR Argentina -34 -64; AT Austria 47 14; AU Australia -25 134;
BD Bangladesh 24 90; BE Belgium 51 4; BF Burkina Faso 12 -2; BG Bulgaria 43 25; BI Burundi -3 30; BJ Benin 9 2;
BO Bolivia -17 -65; BR Brazil -10 -52; CA Canada 56 -106; CD Democratic Republic of the Congo -3 23;
CF Central African Republic 7 21; CG Congo -1 15; CI Côte d'Ivoire 8 -6; CL Chile -35 -71; CM Cameroon 5 12;
CN China 35 104; CO Colombia 4 -73; CR Costa Rica 10 -84; CU Cuba 22 -79; CZ Czechia 50 15; DE Germany 51 10;
DK Denmark 56 10; DO Dominican Republic 19 -70; DZ Algeria 28 3; EC Ecuador -1 -78; EG Egypt 27 30; ES Spain 40 -4;
ET Ethiopia 9 40; FI Finland 64 26; FR France 46 2; GA Gabon -1 12; GB United Kingdom 54 -2; GH Ghana 8 -1;
GN Guinea 10 -11; GR Greece 39 22; GT Guatemala 15 -90; HN Honduras 15 -87; HR Croatia 45 16; HT Haiti 19 -72;
HU Hungary 47 19; ID Indonesia -2 118; IE Ireland 53 -8; IN India 22 79; IQ Iraq 33 44; IR Iran 32 54; IT Italy 43 12;
JO Jordan 31 36; JP Japan 36 138; KE Kenya 0 38; KH Cambodia 13 105; KR Republic of Korea 36 128; KZ Kazakhstan 48 67;
LA Laos 18 104; LB Lebanon 34 36; LK Sri Lanka 7 81; LR Liberia 6 -9; MA Morocco 32 -6; MG Madagascar -19 47;
ML Mali 17 -4; MM Myanmar 21 96; MN Mongolia 47 104; MW Malawi -13 34; MX Mexico 23 -102; MY Malaysia 4 102;
MZ Mozambique -18 35; NE Niger 17 9; NG Nigeria 9 8; NI Nicaragua 13 -85; NL Netherlands 52 5; NO Norway 61 9;
NP Nepal 28 84; NZ New Zealand -41 174; PA Panama 9 -80; PE Peru -9 -75; PG Papua New Guinea -6 144;
PH Philippines 12 122; PK Pakistan 30 70; PL Poland 52 19; PT Portugal 39 -8; PY Paraguay -23 -58; RO Romania 46 25;
RU Russia 60 90; RW Rwanda -2 30; SA Saudi Arabia 24 45; SD Sudan 15 30; SE Sweden 62 15; SL Sierra Leone 8 -12;
SN Senegal 14 -14; SO Somalia 6 46; SS South Sudan 7 30; SV El Salvador 14 -89; TD Chad 15 19; TG Togo 8 1;
TH Thailand 15 101; TN Tunisia 34 9; TR Türkiye 39 35; TZ Tanzania -6 35; UA Ukraine 49 31; UG Uganda 1 32;
US United States of America 39 -98; UY Uruguay -33 -56; VN Viet Nam 16 107; XA Ship at sea -30 -20; YE Yemen 16 48;
ZA South Africa -29 25; ZM Zambia -14 28; ZW Zimbabwe -19 30`

const subdivisionsByParent = Map.groupBy(iso31662, (subdivision) => subdivision.parent)

export const countries: readonly Country[] = countryList.split(';').map((entry) => {
  const words = entry.trim().split(' ')
  const code = words[0] ?? ''
  return {
    code,
    name: words.slice(1, -2).join(' '),
    latitude: Number(words.at(-2)),
    longitude: Number(words.at(-1)),
    subdivisions: subdivisionsByParent.get(code) ?? [],
  }
})

/** With a number after it, each is the name of a district, sub-district or town that does not exist. */
export const placeNames = [
  'Northfield',
  'Vallée Verte',
  'El Piñar',
  'Ōkawa',
  '中村',
  '大中镇',
  'Żabia Góra',
  'São Brás',
  'Mto wa Kati',
  'Åsmark',
  'Suðurey',
  'Saint "Test"',
  'Lower, Upper and Middle Fork',
]

export const remarks = [
  'Synthetic remark: the source wrote "about", the number is taken as printed.',
  'Synthetic remark: late reports, duplicates and referrals were counted once.',
  'Synthetic remark: «cas confirmés» translated; el boletín no lo señaló.',
  'Synthetic remark: see the next bulletin.',
]
