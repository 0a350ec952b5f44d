// Other names of diseases, pathogens, regions and sources, in English, French, Spanish, Portuguese and German. Data only.
// Search ignores case, accents and punctuation, so one spelling of a name is enough. Names are separated by semicolons.

/** The names of a disease, then one entry for each pathogen that causes it, with the names of the pathogen. */
export const DISEASES: readonly (readonly [disease: string, ...pathogens: string[]])[] = [
  [
    'COVID-19; COVID; COVID19; coronavirus; coronavirus disease 2019; novel coronavirus; nCoV; 2019-nCoV; corona; coronavirose',
    'SARS-CoV-2; SARS2; 2019-nCoV; severe acute respiratory syndrome coronavirus 2; Betacoronavirus pandemicum',
  ],
  [
    'Severe acute respiratory syndrome; SARS; SRAS; syndrome respiratoire aigu sévère; síndrome respiratorio agudo grave; síndrome respiratória aguda grave; Schweres akutes Atemwegssyndrom',
    'SARS-CoV; SARS-CoV-1; SARS coronavirus',
  ],
  [
    'Middle East respiratory syndrome; MERS; syndrome respiratoire du Moyen-Orient; síndrome respiratorio de Oriente Medio; síndrome respiratória do Oriente Médio; camel flu',
    'MERS-CoV; MERS coronavirus; Middle East respiratory syndrome coronavirus',
  ],
  [
    'Ebola disease; Ebola; Ebola virus disease; EVD; EBOD; Ebola haemorrhagic fever; Ebola hemorrhagic fever; Sudan virus disease; Sudan ebolavirus disease; SVD; Bundibugyo virus disease; BVD; maladie à virus Ebola; MVE; fièvre hémorragique Ebola; enfermedad por el virus del Ébola; doença por vírus Ebola; Ebolafieber; Ebola-Viruskrankheit',
    'Orthoebolavirus zairense; Ebola virus; EBOV; Zaire ebolavirus; Zaire virus; Ebola Zaire',
    'Orthoebolavirus sudanense; Sudan virus; SUDV; Sudan ebolavirus; Ebola Sudan',
    'Orthoebolavirus bundibugyoense; Bundibugyo virus; BDBV; Bundibugyo ebolavirus; Ebola Bundibugyo',
    'Orthoebolavirus taiense; Tai Forest virus; TAFV',
    'Orthoebolavirus restonense; Reston virus; RESTV',
  ],
  [
    'Marburg virus disease; Marburg; MVD; Marburg haemorrhagic fever; Marburg hemorrhagic fever; maladie à virus Marburg; fièvre de Marburg; enfermedad por el virus de Marburgo; Marburgo; doença por vírus de Marburg; Marburgfieber; green monkey disease',
    'Orthomarburgvirus marburgense; Marburg virus; Marburgvirus; MARV; Ravn virus',
  ],
  [
    'Lassa fever; Lassa; fièvre de Lassa; fiebre de Lassa; febre de Lassa; Lassafieber; Lassa haemorrhagic fever',
    'Lassa virus; LASV; Mammarenavirus lassaense',
  ],
  [
    'Crimean-Congo haemorrhagic fever; Crimean-Congo hemorrhagic fever; CCHF; Congo fever; Crimean fever; fièvre hémorragique de Crimée-Congo; FHCC; fiebre hemorrágica de Crimea-Congo; FHCC; febre hemorrágica da Crimeia-Congo; Krim-Kongo-Fieber',
    'Crimean-Congo haemorrhagic fever virus; CCHFV; Orthonairovirus haemorrhagiae',
  ],
  [
    'Rift Valley fever; RVF; fièvre de la vallée du Rift; FVR; fiebre del valle del Rift; febre do vale do Rift; Rifttalfieber; Rift-Tal-Fieber',
    'Rift Valley fever virus; RVFV; Phlebovirus riftense',
  ],
  [
    'Yellow fever; YF; yellow jack; fièvre jaune; fiebre amarilla; febre amarela; Gelbfieber',
    'Yellow fever virus; YFV; Orthoflavivirus flavi',
  ],
  [
    'Dengue; dengue fever; breakbone fever; breakbone; DHF; dengue haemorrhagic fever; severe dengue; fiebre del dengue; Denguefieber; quebrantahuesos',
    'Dengue virus; DENV; Orthoflavivirus denguei',
  ],
  ['Zika virus disease; Zika; Zika fever; fièvre Zika; maladie à virus Zika; Zikafieber', 'Zika virus; ZIKV'],
  [
    'Chikungunya; chikungunya fever; chik; CHIK; Chikungunyafieber; fièvre chikungunya',
    'Chikungunya virus; CHIKV; Alphavirus chikungunya',
  ],
  ['Oropouche virus disease; Oropouche; Oropouche fever; sloth fever; febre do Oropouche', 'Oropouche virus; OROV'],
  [
    'West Nile fever; West Nile virus disease; West Nile; fièvre du Nil occidental; fiebre del Nilo Occidental; febre do Nilo Ocidental; West-Nil-Fieber',
    'West Nile virus; WNV',
  ],
  [
    'Japanese encephalitis; JE; Japanese brain fever; encéphalite japonaise; encefalitis japonesa; encefalite japonesa; Japanische Enzephalitis',
    'Japanese encephalitis virus; JEV',
  ],
  ['Nipah virus infection; Nipah; Nipah virus disease; NiV; Nipahvirus', 'Nipah virus; Henipavirus nipahense'],
  ['Hendra virus infection; Hendra', 'Hendra virus; HeV'],
  [
    'Hantavirus pulmonary syndrome; hantavirus; HPS; hantavirus cardiopulmonary syndrome; syndrome pulmonaire à hantavirus; síndrome pulmonar por hantavirus; hantavirose; Hantavirus-Infektion',
    'Andes virus; ANDV; Andes hantavirus; Orthohantavirus andesense',
    'Sin Nombre virus; SNV; Orthohantavirus sinnombreense',
    'Hantavirus (Choclo virus); Choclo virus',
  ],
  ['Chapare haemorrhagic fever; Chapare hemorrhagic fever; Chapare', 'Chapare virus; Mammarenavirus chapareense'],
  ['Acute encephalitis syndrome; AES; encephalitis; encéphalite; encefalitis; Enzephalitis', 'Chandipura virus; CHPV'],
  [
    'Mpox; monkeypox; monkey pox; MPX; mpox virus infection; variole du singe; variole simienne; orthopoxvirose simienne; viruela del mono; viruela símica; varíola dos macacos; varíola símia; Affenpocken',
    'Monkeypox virus; mpox virus; MPXV; Orthopoxvirus monkeypox; clade I; clade II',
  ],
  ['Smallpox; variola; small pox; variole; viruela; varíola; Pocken', 'Variola virus; VARV; smallpox virus'],
  [
    'Chickenpox; varicella; chicken pox; varicelle; varicela; catapora; Windpocken',
    'Varicella-zoster virus; VZV; Varicellovirus humanalpha3',
  ],
  [
    'Measles; rubeola; morbilli; rougeole; sarampión; sarampo; Masern',
    'Measles virus; MeV; Morbillivirus hominis; Morbillivirus',
  ],
  ['Rubella; German measles; rubéole; rubéola; Röteln', 'Rubella virus; Rubivirus rubellae'],
  ['Mumps; parotitis; oreillons; paperas; caxumba; papeira; Mumps; Ziegenpeter', 'Mumps virus'],
  [
    'Pertussis; whooping cough; coqueluche; tos ferina; tosferina; tosse convulsa; Keuchhusten',
    'Bordetella pertussis; B. pertussis',
  ],
  ['Diphtheria; diphtérie; difteria; Diphtherie', 'Corynebacterium diphtheriae; C. diphtheriae'],
  ['Tetanus; lockjaw; tétanos; Wundstarrkrampf', 'Clostridium tetani'],
  [
    'Poliomyelitis; polio; infantile paralysis; poliomyélite; poliomielitis; poliomielite; Kinderlähmung; paralisia infantil; WPV',
    'Wild poliovirus type 1; WPV1; poliovirus; wild poliovirus; polio virus',
    'Circulating vaccine-derived poliovirus; cVDPV; cVDPV2; cVDPV1; VDPV; vaccine-derived poliovirus',
  ],
  [
    'Avian influenza; bird flu; avian flu; HPAI; fowl plague; grippe aviaire; influenza aviaire; gripe aviar; influenza aviar; gripe aviária; influenza aviária; Vogelgrippe; Geflügelpest',
    'Influenza A(H5N1) virus; H5N1; A(H5N1); Influenza A H5N1',
    'Influenza A(H7N9) virus; H7N9; A(H7N9); Influenza A H7N9',
    'Influenza A(H5) virus; H5; A(H5)',
    'Influenza A(H5N6) virus; H5N6',
    'Influenza A(H9N2) virus; H9N2',
  ],
  [
    'Influenza; flu; grippe; gripe; seasonal influenza; pandemic influenza; swine flu; swine influenza; grippe porcine; gripe porcina; gripe suína; Schweinegrippe',
    'Influenza A(H1N1)pdm09 virus; H1N1; H1N1pdm09; pH1N1; A(H1N1); swine flu; swine influenza; grippe porcine; gripe porcina; gripe suína; Schweinegrippe',
    'Influenza A(H3N2) virus; H3N2',
    'Influenza virus; influenza A virus; influenza B virus',
  ],
  [
    'Cholera; choléra; cólera; blue death; acute watery diarrhoea; acute watery diarrhea; AWD',
    'Vibrio cholerae; V. cholerae; Vibrio cholerae O1; El Tor',
  ],
  [
    'Plague; peste; Pest; bubonic plague; pneumonic plague; black death; peste bubonique; peste bubónica; peste bubônica; Beulenpest; Lungenpest',
    'Yersinia pestis; Y. pestis',
  ],
  [
    'Anthrax; charbon; carbunco; ántrax; carbúnculo; antraz; Milzbrand; maladie du charbon',
    'Bacillus anthracis; B. anthracis',
  ],
  [
    'Typhoid fever; typhoid; enteric fever; fièvre typhoïde; typhoïde; fiebre tifoidea; tifoidea; febre tifoide; febre tifóide; Typhus abdominalis; Bauchtyphus',
    'Salmonella enterica serovar Typhi; Salmonella Typhi; S. Typhi',
  ],
  [
    'Salmonellosis; salmonella; salmonellose; salmonelosis; salmonelose; Salmonellen',
    'Salmonella enterica serovar Typhimurium; Salmonella Typhimurium; S. Typhimurium',
    'Salmonella enterica; Salmonella enteritidis',
  ],
  ['Shigellosis; shigella; bacillary dysentery; dysentery; dysenterie; disentería; disenteria; Ruhr', 'Shigella'],
  [
    'EHEC infection; EHEC; STEC; VTEC; E. coli; E. coli O157; enterohaemorrhagic Escherichia coli; haemolytic uraemic syndrome; HUS',
    'Escherichia coli O157:H7; Escherichia coli; E. coli; O157; E. coli O157',
  ],
  ['Listeriosis; listeria; listériose; listeriose; Listeriose', 'Listeria monocytogenes; L. monocytogenes'],
  ['Campylobacteriosis; campylobacter', 'Campylobacter jejuni'],
  [
    "Legionellosis; Legionnaires' disease; legionella; légionellose; maladie du légionnaire; legionelosis; legionelose; enfermedad del legionario; Legionellose; Legionärskrankheit",
    'Legionella pneumophila; L. pneumophila',
  ],
  ['Botulism; botulisme; botulismo; Botulismus', 'Clostridium botulinum; C. botulinum'],
  [
    'Pneumococcal meningitis; pneumococcal disease; méningite à pneumocoques; meningitis neumocócica; doença pneumocócica; Pneumokokken',
    'Streptococcus pneumoniae; pneumococcus; S. pneumoniae',
  ],
  [
    'Meningococcal meningitis; meningitis; meningococcal disease; méningite; méningite à méningocoques; meningite; meningitis meningocócica; doença meningocócica; Hirnhautentzündung; Meningokokken',
    'Neisseria meningitidis; meningococcus; N. meningitidis; NmC; NmA',
  ],
  [
    'Acute hepatitis E; hepatitis E; HEV; hépatite E; hepatite E; epidemic jaundice',
    'Hepatitis E virus; Paslahepevirus balayani',
  ],
  ['Acute hepatitis A; hepatitis A; HAV; hépatite A; hepatite A', 'Hepatitis A virus'],
  [
    'Severe acute hepatitis of unknown aetiology; acute hepatitis of unknown origin; hepatitis of unknown etiology; hépatite aiguë sévère; hepatitis aguda grave; childhood hepatitis',
  ],
  [
    'Malaria; paludisme; paludismo; malária; Wechselfieber; ague; Sumpffieber',
    'Plasmodium falciparum; P. falciparum',
    'Plasmodium vivax; P. vivax',
  ],
  ['Elizabethkingia infection; Elizabethkingia', 'Elizabethkingia anophelis'],
  [
    'Undiagnosed febrile illness; undiagnosed disease; unknown disease; mystery disease; disease X; maladie inconnue; enfermedad desconocida; doença desconhecida; unbekannte Krankheit',
  ],
  ['Tuberculosis; TB; consumption; tuberculose; tuberculosis; Tuberkulose', 'Mycobacterium tuberculosis'],
  ['Rabies; hydrophobia; rage; rabia; raiva; Tollwut', 'Rabies virus; RABV; Lyssavirus rabies'],
  ['Leptospirosis; leptospirose; Weil disease', 'Leptospira interrogans'],
  ['Typhus; epidemic typhus; typhus exanthématique; tifus; tifo; Fleckfieber', 'Rickettsia prowazekii'],
  ['Brucellosis; brucellose; brucelosis; Malta fever', 'Brucella melitensis'],
  ['Q fever; fièvre Q; fiebre Q; febre Q; Q-Fieber', 'Coxiella burnetii'],
  ['Leishmaniasis; kala-azar; leishmaniose', 'Leishmania donovani'],
  ['Hand, foot and mouth disease; HFMD; syndrome pieds-mains-bouche; Hand-Fuß-Mund-Krankheit', 'Enterovirus A71; EV71'],
  ['Norovirus gastroenteritis; norovirus; winter vomiting disease', 'Norovirus; Norwalk virus'],
  ['HIV infection; HIV; AIDS; VIH; SIDA', 'Human immunodeficiency virus; HIV-1'],
]

/** The code of a UN region in M49, which gives its names in other languages, then names that are in no list. */
export const UN_REGION_NAMES: Readonly<Record<string, readonly [m49: string, names: string]>> = {
  'Australia and New Zealand': ['053', 'Australasia'],
  Caribbean: ['029', 'West Indies; Antilles'],
  'Central America': ['013', 'Mesoamerica'],
  'Central Asia': ['143', ''],
  'Eastern Africa': ['014', "East Africa; Afrique de l'Est; África del Este; África do Leste"],
  'Eastern Asia': ['030', "East Asia; Far East; Asie de l'Est"],
  'Eastern Europe': ['151', "East Europe; Europe de l'Est"],
  Melanesia: ['054', ''],
  Micronesia: ['057', ''],
  'Middle Africa': ['017', 'Central Africa; Afrique centrale; África Central; Zentralafrika'],
  'Northern Africa': ['015', 'North Africa; Maghreb; Afrique du Nord; África del Norte; Norte de África'],
  'Northern America': ['021', 'North America'],
  'Northern Europe': ['154', 'North Europe; Europe du Nord'],
  Polynesia: ['061', ''],
  'South America': ['005', ''],
  'South-eastern Asia': ['035', 'Southeast Asia; South East Asia'],
  'Southern Africa': ['018', ''],
  'Southern Asia': ['034', 'South Asia; Indian subcontinent'],
  'Southern Europe': ['039', 'South Europe; Europe du Sud'],
  'Western Africa': ['011', "West Africa; Afrique de l'Ouest; África del Oeste; África Ocidental"],
  'Western Asia': ['145', 'West Asia; Near East; Middle East; Moyen-Orient; Oriente Medio; Naher Osten'],
  'Western Europe': ['155', "West Europe; Europe de l'Ouest"],
}

/** The same for WHO regions. Three of them are also areas of M49. */
export const WHO_REGION_NAMES: Readonly<Record<string, readonly [m49: string | null, names: string]>> = {
  AFR: ['002', 'AFRO; African Region'],
  AMR: ['019', 'AMRO; PAHO; Region of the Americas; America'],
  EMR: [
    null,
    'EMRO; Eastern Mediterranean; Eastern Mediterranean Region; Méditerranée orientale; Mediterráneo oriental; Mediterrâneo Oriental; Östlicher Mittelmeerraum',
  ],
  EUR: ['150', 'EURO; European Region'],
  SEAR: [null, 'SEARO; South-East Asia Region; Asie du Sud-Est; Asia Sudoriental; Sudeste Asiático; Südostasien'],
  WPR: [null, 'WPRO; Western Pacific; Western Pacific Region; Pacifique occidental; Pacífico Occidental; Westpazifik'],
}

/** What the abbreviations in the names of sources stand for. */
export const SOURCE_ABBREVIATIONS: Readonly<Record<string, string>> = {
  CDC: 'Centers for Disease Control and Prevention',
  CSSE: 'Center for Systems Science and Engineering',
  ECDC: 'European Centre for Disease Prevention and Control',
  JHU: 'Johns Hopkins University',
  PAHO: 'Pan American Health Organization; OPS',
  PERG: 'Pathogen Epidemiology Review Group; epireview',
  RECON: 'R Epidemics Consortium',
  WHO: 'World Health Organization; OMS; Weltgesundheitsorganisation',
}
